package import FarmPolicy

/// The settings of a binary connection to a gateway.
package struct BinarySettings: Hashable, Sendable {
    package var command: BinaryCommand
    /// The minimum quiet time after which pushes sent to a gateway count as accepted.
    package var quietTime: Duration
    /// Whether a retiring connection ends with a push that the gateway certainly refuses. The gateway's reply then
    /// proves that earlier pushes were accepted.
    package var endsWithSentinel: Bool
    /// Whether TLS 1.3 KeyUpdates ask the gateway's TLS how much its program has read.
    package var asksIfRead: Bool
    /// The number of pushes without a known outcome that one worker may have.
    package var window: Int
    /// The number of connections that one worker may dial per minute.
    package var dialsPerMinute: Int

    package init(
        command: BinaryCommand = .framed, quietTime: Duration = .seconds(1), endsWithSentinel: Bool = false,
        asksIfRead: Bool = true, window: Int = 262_144, dialsPerMinute: Int = 3_000
    ) {
        self.command = command
        self.quietTime = quietTime
        self.endsWithSentinel = endsWithSentinel
        self.asksIfRead = asksIfRead
        self.window = window
        self.dialsPerMinute = dialsPerMinute
    }
}

/// The commands of the binary interface that send a notification.
///
/// - Source: Apple, "Binary Provider API" and "Legacy Notification Format".
package enum BinaryCommand: UInt8, CaseIterable, Hashable, Sendable {
    /// Contains no identifier, so the gateway never names a refused notification.
    case simple = 0
    /// Contains an identifier and an expiration.
    case enhanced = 1
    /// Contains items in a frame: identifier, expiration and priority.
    case framed = 2

    /// The maximum length of a payload in bytes.
    package var longestPayload: Int { self == .framed ? 2048 : 256 }
    /// Whether the gateway's replies name notifications that this command sent.
    package var isIdentified: Bool { self != .simple }
    /// The maximum length of a device token in bytes.
    package static let longestToken = 100
}

/// Facts that the connections to one binary gateway have learned: how long its replies take, and how many pushes it
/// accepts between two refusals.
package final class BinaryGatewayProfile {
    package var quiet: QuietTime
    package var pace: SendPace
    /// The number of pushes that wait for a connection, and the number of allowed connections.
    package var waiting = (pushes: Int.max, connections: 1)
    /// Whether the gateway's TLS tells how much its program has read; nil while unknown.
    package var answersQuestions: Bool?

    /// The number of pushes to give to one connection before another connection gets some.
    package var part: Int { pace.part(of: waiting.pushes, over: waiting.connections) }

    package init(_ settings: BinarySettings) {
        quiet = QuietTime(least: settings.quietTime)
        pace = SendPace(isBlind: !settings.command.isIdentified)
    }
}
