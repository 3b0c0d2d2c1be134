/// The commands of the binary interface that send a notification.
///
/// - Source: Apple, "Binary Provider API" and "Legacy Notification Format".
package enum BinaryCommand: UInt8, CaseIterable, Hashable, Sendable {
    /// No identifier: the gateway never says which notification it refused.
    case simple = 0
    /// Identifier and expiration.
    case enhanced = 1
    /// Items in a frame: identifier, expiration and priority.
    case framed = 2

    /// Bytes of the largest payload.
    package var longestPayload: Int { self == .framed ? 2048 : 256 }
    /// The gateway's replies name notifications sent by it.
    package var isIdentified: Bool { self != .simple }
    /// Bytes of the longest device token.
    package static let longestToken = 100
}
