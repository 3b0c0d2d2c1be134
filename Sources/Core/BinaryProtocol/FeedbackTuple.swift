/// An unregistered token as reported by the feedback service.
///
/// The bytes of a tuple are the time as `UInt32` in seconds since 1970, the token length as `UInt16`, and the token.
/// The numbers are big-endian.
/// - Source: Apple, "Binary Provider API", the feedback service.
package struct FeedbackTuple: Hashable, Sendable {
    package let time: UInt32
    package let token: [UInt8]

    package init(time: UInt32, token: [UInt8]) {
        self.time = time
        self.token = token
    }

    package func append(to bytes: inout [UInt8]) {
        withUnsafeBytes(of: time.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt16(token.count).bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: token)
    }

    /// An impossible token length, which makes the rest of the stream unreadable.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let tokenLength: Int
        package var description: String { "a feedback tuple with a token of \(tokenLength) bytes" }
    }

    /// Assembles tuples from received bytes. The reader stores at most the bytes of one incomplete tuple.
    package struct Reader: Sendable {
        private var rest: [UInt8] = []

        package init() {}

        /// The number of bytes of an incomplete tuple.
        package var pending: Int { rest.count }

        /// Reads received bytes and calls `body` for each complete tuple.
        package mutating func read(
            _ bytes: UnsafeRawBufferPointer, _ body: (FeedbackTuple) -> Void
        ) throws(Fault) {
            var bytes = bytes[...]
            while !bytes.isEmpty {
                let wanted = rest.count < FeedbackTuple.head ? FeedbackTuple.head : try wholeLength()
                let part = bytes.prefix(wanted - rest.count)
                rest.append(contentsOf: part)
                bytes = bytes[part.endIndex...]
                guard rest.count >= FeedbackTuple.head, try rest.count == wholeLength() else { continue }
                let time = rest[0..<4].reduce(0) { $0 << 8 | UInt32($1) }
                body(FeedbackTuple(time: time, token: Array(rest[FeedbackTuple.head...])))
                rest.removeAll(keepingCapacity: true)
            }
        }

        private func wholeLength() throws(Fault) -> Int {
            let length = Int(rest[4]) << 8 | Int(rest[5])
            guard (1...BinaryCommand.longestToken).contains(length) else { throw Fault(tokenLength: length) }
            return FeedbackTuple.head + length
        }
    }

    private static let head = 6
}
