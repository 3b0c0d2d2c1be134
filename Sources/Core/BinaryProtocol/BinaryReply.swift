package import APNs

/// The reply that a gateway may send before it closes a connection: 6 bytes, big-endian.
///
/// The bytes are the number 8, the status as `UInt8`, and an identifier as `UInt32`. The identifier names the refused
/// notification. With the status ``BinaryStatus/shutdown``, the identifier names the last accepted notification.
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

    /// Assembles a reply from received bytes.
    package struct Reader: Sendable {
        package enum Progress: Hashable, Sendable {
            case incomplete
            case reply(BinaryReply)
            /// The bytes are not a valid reply and prove nothing about any push.
            case malformed
        }

        private var packed: UInt64 = 0
        private var count = 0
        private var isOver = false

        package init() {}

        /// Reads received bytes. A connection carries one reply, so later bytes are ignored.
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

/// The status in a reply of the binary interface; any byte is possible.
///
/// - Source: Apple, "Binary Provider API", codes in error-response packet; "Legacy Notification Format".
package struct BinaryStatus: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let noError = BinaryStatus(rawValue: 0)
    package static let processingError = BinaryStatus(rawValue: 1)
    package static let missingDeviceToken = BinaryStatus(rawValue: 2)
    package static let missingTopic = BinaryStatus(rawValue: 3)
    package static let missingPayload = BinaryStatus(rawValue: 4)
    package static let invalidTokenSize = BinaryStatus(rawValue: 5)
    package static let invalidTopicSize = BinaryStatus(rawValue: 6)
    package static let invalidPayloadSize = BinaryStatus(rawValue: 7)
    package static let invalidToken = BinaryStatus(rawValue: 8)
    /// The gateway closes the connection for maintenance. The reply names the last notification that the gateway accepted.
    package static let shutdown = BinaryStatus(rawValue: 10)
    package static let protocolError = BinaryStatus(rawValue: 128)
    package static let unknown = BinaryStatus(rawValue: 255)

    /// Apple's text for the status as one word, such as "InvalidToken"; "Status99" for an unknown status.
    package var reason: String {
        switch self {
        case .noError: "NoError"
        case .processingError: "ProcessingError"
        case .missingDeviceToken: "MissingDeviceToken"
        case .missingTopic: "MissingTopic"
        case .missingPayload: "MissingPayload"
        case .invalidTokenSize: "InvalidTokenSize"
        case .invalidTopicSize: "InvalidTopicSize"
        case .invalidPayloadSize: "InvalidPayloadSize"
        case .invalidToken: "InvalidToken"
        case .shutdown: "Shutdown"
        case .protocolError: "ProtocolError"
        case .unknown: "Unknown"
        default: "Status\(rawValue)"
        }
    }

    /// The meaning for the notification that the reply names; nil for ``noError`` and ``shutdown``, which refuse nothing.
    package var verdict: Verdict? {
        switch self {
        case .noError, .shutdown: nil
        case .invalidToken, .invalidTokenSize: .tokenInvalid(reason: reason, timestamp: nil)
        case .missingDeviceToken, .missingPayload, .invalidPayloadSize, .protocolError:
            .requestWrong(reason: reason)
        case .missingTopic, .invalidTopicSize: .credentialsWrong(reason: reason)
        default: .processingFailed(reason: reason)
        }
    }
}
