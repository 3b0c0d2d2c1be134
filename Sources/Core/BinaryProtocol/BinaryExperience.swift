package import FarmPolicy

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
