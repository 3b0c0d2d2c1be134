import APNs
import FarmPolicy

/// What the connections to one binary gateway have learned about it: how long its replies take, and how many pushes go by
/// between two refusals.
final class BinaryExperience {
    var quiet: QuietTime
    var pace: SendPace
    /// Whether its TLS says what its program has read; nil: not known yet.
    var answersQuestions: Bool?

    init(_ settings: BinarySettings) {
        quiet = QuietTime(least: settings.quietTime)
        pace = SendPace(isBlind: !settings.command.isIdentified)
    }
}
