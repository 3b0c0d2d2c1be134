/// Cuts the byte stream of a control channel into messages.
package struct ControlFrames<Message: ControlMessage> {
    /// Longer than any message: a bound on what a broken peer can make us keep.
    package static var longestFrame: Int { 4 << 20 }

    private var buffer: [UInt8] = []
    private var start = 0

    package init() {}

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        buffer.append(contentsOf: bytes)
    }

    /// - Returns: the next whole message, or `nil` until more bytes have come.
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
