package import FarmPolicy

/// The settings of a binary connection to a gateway.
package struct BinarySettings: Hashable, Sendable {
    package var command: BinaryCommand
    /// The minimum of the quiet time. If the gateway sends no reply during the quiet time after it has read pushes, these
    /// pushes count as accepted.
    package var quietTime: Duration
    /// Whether a retiring connection ends with a push that the gateway certainly refuses. The gateway's reply then
    /// proves that earlier pushes were accepted.
    package var endsWithSentinel: Bool
    /// Whether the worker sends TLS 1.3 KeyUpdates to learn how many bytes the gateway's program has read.
    package var asksIfRead: Bool
    /// The maximum number of pushes that one worker may have sent without knowing their outcomes.
    package var window: Int
    /// The maximum number of connections that one worker may open per minute.
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
    /// The frame contains no identifier, so the gateway never names a refused notification.
    case simple = 0
    /// The frame contains an identifier and an expiration.
    case enhanced = 1
    /// The frame contains items: a token, a payload, an identifier, and optionally an expiration and a priority.
    case framed = 2

    /// The maximum length of a payload in bytes.
    package var longestPayload: Int { self == .framed ? 2048 : 256 }
    /// Whether the gateway's replies can name a notification that was sent with this command.
    package var isIdentified: Bool { self != .simple }
    /// The maximum length of a device token in bytes.
    package static let longestToken = 100
}

/// Facts that the connections to one binary gateway have learned: how long the gateway's replies take, and how many pushes the
/// gateway accepts between two refusals.
package final class BinaryGatewayProfile {
    package var quiet: QuietTime
    package var windowLimit: BinaryWindowLimit
    /// `pushes`: the number of pushes that wait for a connection; `connections`: the number of connections that may be open.
    package var waiting = (pushes: Int.max, connections: 1)
    /// Whether the gateway's TLS responds to KeyUpdates. The responses show how many bytes the gateway's program has read.
    /// nil while unknown.
    package var respondsToQuestions: Bool?

    /// The number of pushes to give to one connection before another connection gets pushes.
    package var part: Int { windowLimit.part(of: waiting.pushes, over: waiting.connections) }

    package init(_ settings: BinarySettings) {
        quiet = QuietTime(least: settings.quietTime)
        windowLimit = BinaryWindowLimit(isBlind: !settings.command.isIdentified)
    }
}
