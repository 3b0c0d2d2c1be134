import APNs
import FarmPolicy

/// What the connections to one binary gateway have learned about it: how long its replies take, and how many pushes go by
/// between two refusals.
final class BinaryExperience {
    var quiet: QuietTime
    var pace: SendPace
    /// Pushes that wait for a connection, and how many connections there may be.
    var waiting = (pushes: Int.max, connections: 1)
    /// Whether its TLS says what its program has read; nil: not known yet.
    var answersQuestions: Bool?

    /// Pushes that one connection gets before another one does.
    var part: Int { pace.part(of: waiting.pushes, over: waiting.connections) }

    init(_ settings: BinarySettings) {
        quiet = QuietTime(least: settings.quietTime)
        pace = SendPace(isBlind: !settings.command.isIdentified)
    }
}
