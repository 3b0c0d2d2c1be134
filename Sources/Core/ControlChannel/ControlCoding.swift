/// Reads what ``ControlWriter`` wrote; every read checks the length.
package struct ControlReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(ControlError)
        -> Number
    {
        let size = MemoryLayout<Number>.size
        guard rest.count >= size else { throw .truncated }
        let number = rest.prefix(size).reduce(Number.zero) { $0 << 8 | Number(truncatingIfNeeded: $1) }
        rest = rest.dropFirst(size)
        return number
    }

    /// One byte, 1 or 0.
    mutating func flag() throws(ControlError) -> Bool {
        let flag: UInt8 = try number()
        guard flag < 2 else { throw .unknownKind(flag) }
        return flag == 1
    }

    mutating func blob() throws(ControlError) -> [UInt8] {
        let count = Int(try number(UInt32.self))
        guard rest.count >= count else { throw .truncated }
        let blob = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
        return blob
    }

    mutating func text() throws(ControlError) -> String {
        let bytes = try blob()
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        return text
    }

    mutating func list<Element>(
        _ read: (inout ControlReader) throws(ControlError) -> Element
    ) throws(ControlError) -> [Element] {
        let count = Int(try number(UInt32.self))
        // Every element has at least one byte, so a count beyond the bytes is a lie.
        guard count <= rest.count else { throw .truncated }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try read(&self)) }
        return elements
    }

    func end() throws(ControlError) {
        guard rest.isEmpty else { throw .trailing }
    }
}

/// Appends the elements of a control message to bytes; numbers are big-endian.
package struct ControlWriter {
    private(set) var bytes: [UInt8] = []

    /// Comes first in a message.
    mutating func kind(_ kind: UInt8) { number(kind) }

    mutating func number<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// A length of 4 bytes, then the bytes.
    mutating func blob(_ blob: some Collection<UInt8>) {
        number(UInt32(blob.count))
        bytes.append(contentsOf: blob)
    }

    mutating func text(_ text: String) { blob(text.utf8) }

    /// A count of 4 bytes, then the elements.
    mutating func list<Element>(_ elements: [Element], _ write: (inout ControlWriter, Element) -> Void) {
        number(UInt32(elements.count))
        for element in elements { write(&self, element) }
    }
}
