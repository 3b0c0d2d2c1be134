import Foundation

/// When and how long a historic sender reads replies.
package struct ReadingHabit: Hashable, Sendable, Codable {
    package let name: String
    /// The number of pushes after which the sender reads replies; nil if the sender never reads.
    package let interval: Int?
    /// How long the sender waits for a reply after each interval.
    package let timeout: Duration
    /// How long the sender waits for a reply after its last push.
    package let lastTimeout: Duration

    /// Pushes that a historic sender writes in a second. Apple named this rate for a healthy sender.
    package static let pace = 9_000

    /// The habit of the first example programs: the sender writes and never reads.
    package static let naive = ReadingHabit(
        name: "naive: never reads", interval: nil, timeout: .zero, lastTimeout: .zero)
    /// The most common way to notice refused pushes: the sender reads replies at an interval, resumes after a refused
    /// push, and waits for a last reply before it ends.
    package static func every(_ interval: Int) -> ReadingHabit {
        ReadingHabit(
            name: "looks every \(interval)", interval: interval, timeout: .zero,
            lastTimeout: .milliseconds(500))
    }
    /// The safe way to notice refused pushes: the sender waits for a reply after each push.
    package static let waiting = ReadingHabit(
        name: "waits 0.5 s each time", interval: 1, timeout: .milliseconds(500),
        lastTimeout: .milliseconds(500))

    package static let all = [naive, every(100), every(500), waiting]
}
