import Foundation

/// How a sender of the write-ups looks for replies.
package struct Habit: Hashable, Sendable, Codable {
    package let name: String
    /// After so many pushes it looks for a reply; nil: it never reads.
    package let interval: Int?
    /// For how long it then waits for one.
    package let patience: Duration
    /// For how long it waits after its last push.
    package let lastPatience: Duration

    /// Pushes that one of them writes in a second: what Apple called the mark of a healthy sender.
    package static let pace = 9_000

    /// As the first examples: writes, and calls it sent.
    package static let naive = Habit(
        name: "naive: never reads", interval: nil, patience: .zero, lastPatience: .zero)
    /// The remedy that most wrote about: to look now and then, to go back to what was refused, and to pause before the end.
    package static func every(_ interval: Int) -> Habit {
        Habit(
            name: "looks every \(interval)", interval: interval, patience: .zero,
            lastPatience: .milliseconds(500))
    }
    /// The safe remedy.
    package static let waiting = Habit(
        name: "waits 0.5 s each time", interval: 1, patience: .milliseconds(500),
        lastPatience: .milliseconds(500))

    package static let all = [naive, every(100), every(500), waiting]
}
