package import FarmPolicy

/// How to speak the binary interface to a gateway.
package struct BinarySettings: Hashable, Sendable {
    package var command: BinaryCommand
    /// The least time of quiet after which what a gateway was sent counts as accepted.
    package var quietTime: Duration
    /// A connection that is given up ends with a push that the gateway is known to refuse: its reply proves the others.
    package var endsWithSentinel: Bool
    /// The gateway's TLS is asked, by KeyUpdates of TLS 1.3, what its program has read.
    package var asksIfRead: Bool
    /// Pushes that one worker may have sent without knowing their outcome.
    package var window: Int
    /// Connections that one worker may dial in a minute.
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

/// What the connections to one binary gateway have learned about it: how long its replies take, and how many pushes go by
/// between two refusals.
package final class BinaryExperience {
    package var quiet: QuietTime
    package var pace: SendPace
    /// Pushes that wait for a connection, and how many connections there may be.
    package var waiting = (pushes: Int.max, connections: 1)
    /// Whether its TLS says what its program has read; nil: not known yet.
    package var answersQuestions: Bool?

    /// Pushes that one connection gets before another one does.
    package var part: Int { pace.part(of: waiting.pushes, over: waiting.connections) }

    package init(_ settings: BinarySettings) {
        quiet = QuietTime(least: settings.quietTime)
        pace = SendPace(isBlind: !settings.command.isIdentified)
    }
}
