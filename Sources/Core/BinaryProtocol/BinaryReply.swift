/// What a gateway says before it closes, if it says anything: 6 bytes, big-endian.
///
/// 8, status `UInt8`, identifier `UInt32` of the notification that was refused, or after ``BinaryStatus/shutdown`` of the
/// last one accepted.
/// - Source: Apple, "Binary Provider API", error-response packet.
package struct BinaryReply: Hashable, Sendable {
    package static let length = 6
    package static let command: UInt8 = 8

    package let status: BinaryStatus
    package let identifier: UInt32

    package init(status: BinaryStatus, identifier: UInt32) {
        self.status = status
        self.identifier = identifier
    }

    package var bytes: [UInt8] {
        let id = identifier
        return [
            Self.command, status.rawValue, UInt8(truncatingIfNeeded: id >> 24),
            UInt8(truncatingIfNeeded: id >> 16),
            UInt8(truncatingIfNeeded: id >> 8), UInt8(truncatingIfNeeded: id),
        ]
    }

    /// Puts a reply together from what arrives.
    package struct Reader: Sendable {
        package enum Progress: Hashable, Sendable {
            case incomplete
            case reply(BinaryReply)
            /// The bytes are not a reply, and prove nothing.
            case malformed
        }

        private var packed: UInt64 = 0
        private var count = 0
        private var isOver = false

        package init() {}

        /// Takes bytes as they come. There is one reply a connection: what follows it is not looked at.
        package mutating func read(_ bytes: UnsafeRawBufferPointer) -> Progress {
            for byte in bytes where !isOver {
                if count == 0, byte != BinaryReply.command {
                    isOver = true
                    return .malformed
                }
                packed = packed << 8 | UInt64(byte)
                count += 1
                guard count == BinaryReply.length else { continue }
                isOver = true
                return .reply(
                    BinaryReply(
                        status: BinaryStatus(rawValue: UInt8(truncatingIfNeeded: packed >> 32)),
                        identifier: UInt32(truncatingIfNeeded: packed)))
            }
            return .incomplete
        }
    }
}
