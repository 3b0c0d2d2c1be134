/// A value that can be sent over the control channel.
package protocol ControlValue {
    func write(to writer: inout ControlWriter)
    init(from reader: inout ControlReader) throws(ControlError)
}

/// Appends the values of a control message to a byte array.
package struct ControlWriter {
    fileprivate(set) var bytes: [UInt8] = []

    mutating func write<each Value: ControlValue>(_ values: repeat each Value) {
        repeat (each values).write(to: &self)
    }

    /// - Parameter kind: the first byte of the message.
    mutating func message<each Value: ControlValue>(_ kind: UInt8, _ values: repeat each Value) {
        write(kind, repeat each values)
    }
}

/// Reads values that ``ControlWriter`` wrote. Each read checks the remaining length.
package struct ControlReader {
    fileprivate var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func read<Value: ControlValue>(_: Value.Type = Value.self) throws(ControlError) -> Value {
        try Value(from: &self)
    }

    mutating func readAll<each Value: ControlValue>() throws(ControlError) -> (repeat each Value) {
        (repeat try (each Value)(from: &self))
    }

    /// Reads values and passes them to `make`, for example to create a case of an enum.
    mutating func read<each Value: ControlValue, Message>(
        _ make: (repeat each Value) -> Message
    ) throws(ControlError) -> Message {
        make(repeat try (each Value)(from: &self))
    }

    fileprivate mutating func take(_ count: Int) throws(ControlError) -> ArraySlice<UInt8> {
        guard rest.count >= count else { throw .truncated }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    func end() throws(ControlError) {
        guard rest.isEmpty else { throw .trailing }
    }
}

/// Integers are encoded in big-endian order.
extension FixedWidthInteger {
    package func write(to writer: inout ControlWriter) {
        withUnsafeBytes(of: bigEndian) { writer.bytes.append(contentsOf: $0) }
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        let bytes = try reader.take(MemoryLayout<Self>.size)
        self = bytes.reduce(Self.zero) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}

extension UInt8: ControlValue {}
extension UInt16: ControlValue {}
extension UInt32: ControlValue {}
extension UInt64: ControlValue {}
extension Int32: ControlValue {}

/// A Bool is encoded as one byte, 1 or 0.
extension Bool: ControlValue {
    package func write(to writer: inout ControlWriter) { writer.write(UInt8(self ? 1 : 0)) }

    package init(from reader: inout ControlReader) throws(ControlError) {
        let flag: UInt8 = try reader.read()
        guard flag < 2 else { throw .unknownKind(flag) }
        self = flag == 1
    }
}

/// A Double must be finite and not negative.
extension Double: ControlValue {
    package func write(to writer: inout ControlWriter) { writer.write(bitPattern) }

    package init(from reader: inout ControlReader) throws(ControlError) {
        self.init(bitPattern: try reader.read())
        guard isFinite, self >= 0 else { throw .notDecimal }
    }
}

/// A String is encoded as a length of 4 bytes and UTF-8.
extension String: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(UInt32(utf8.count))
        writer.bytes.append(contentsOf: utf8)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        let count: UInt32 = try reader.read()
        guard let text = String(validating: try reader.take(Int(count)), as: UTF8.self) else {
            throw .notUTF8
        }
        self = text
    }
}

/// An array is encoded as a count of 4 bytes and the elements.
extension Array: ControlValue where Element: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(UInt32(count))
        for element in self { element.write(to: &writer) }
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        let count = Int(try reader.read(UInt32.self))
        // Each element has at least one byte, so a count above the number of remaining bytes is wrong.
        guard count <= reader.rest.count else { throw .truncated }
        self = []
        for _ in 0..<count { append(try reader.read()) }
    }
}

/// An optional is encoded as a Bool, followed by the value if there is one.
extension Optional: ControlValue where Wrapped: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(self != nil)
        if let self { writer.write(self) }
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        self = try reader.read(Bool.self) ? try reader.read(Wrapped.self) : nil
    }
}
