/// A message on the control channel: one byte for the kind of the message, followed by the elements of the message in order.
package protocol ControlMessage {
    func write(to writer: inout ControlWriter)
    /// Reads the elements of a message of this kind.
    init(kind: UInt8, from reader: inout ControlReader) throws(ControlError)
}

extension ControlMessage {
    var encoded: [UInt8] {
        var writer = ControlWriter()
        write(to: &writer)
        return writer.bytes
    }

    init(decoding bytes: ArraySlice<UInt8>) throws(ControlError) {
        var reader = ControlReader(bytes)
        try self.init(kind: reader.read(), from: &reader)
        try reader.end()
    }

    /// The encoded message: its length in 4 bytes, big-endian, then its bytes.
    package var frame: [UInt8] {
        var writer = ControlWriter()
        writer.write(encoded)
        return writer.bytes
    }
}

/// Why bytes are not a control message. Coordinator and child run one binary, so bytes that are not a control message come from a
/// bug or from a foreign program.
package enum ControlError: Error, Equatable {
    case truncated
    case trailing
    case notUTF8
    case notDecimal
    case unknownKind(UInt8)
    case frameTooLong(Int)
}

/// Splits the byte stream of a control channel into messages.
package struct ControlFrames<Message: ControlMessage> {
    /// The maximum length of a frame in bytes. Every valid message is shorter. The maximum limits how much memory a faulty peer
    /// can use.
    package static var longestFrame: Int { 4 << 20 }

    private var buffer: [UInt8] = []
    private var start = 0

    package init() {}

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        buffer.append(contentsOf: bytes)
    }

    /// - Returns: the next complete message; nil if more bytes are needed.
    package mutating func next() throws(ControlError) -> Message? {
        let rest = buffer[start...]
        guard rest.count >= 4 else { return compact() }
        let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard length <= Self.longestFrame else { throw .frameTooLong(length) }
        guard rest.count >= 4 + length else { return compact() }
        start += 4 + length
        return try Message(decoding: rest.dropFirst(4).prefix(length))
    }

    private mutating func compact() -> Message? {
        buffer.removeFirst(start)
        start = 0
        return nil
    }
}

/// Exit statuses with a special meaning for the coordinator.
package enum ChildExitStatus {
    /// The child cannot decode the coordinator's messages.
    package static let broken: Int32 = 70
    /// Redis shows that another coordinator owns the child's lease. The exit is not a crash, so it counts against no job, and the
    /// coordinator restarts the child immediately.
    package static let fenced: Int32 = 75
}
