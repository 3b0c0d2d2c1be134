import Foundation

/// How a historic sender looks for replies.
package struct ReadingHabit: Hashable, Sendable, Codable {
    package let name: String
    /// The sender looks for a reply after this number of pushes. Nil: the sender never reads.
    package let interval: Int?
    /// How long the sender waits for a reply each time.
    package let timeout: Duration
    /// How long the sender waits for a reply after its last push.
    package let lastTimeout: Duration

    /// Pushes that a historic sender writes in a second. Apple named this rate for a healthy sender.
    package static let pace = 9_000

    /// The sender of the first examples: it writes and never reads.
    package static let naive = ReadingHabit(
        name: "naive: never reads", interval: nil, timeout: .zero, lastTimeout: .zero)
    /// The most common remedy: the sender looks regularly, resumes after a refused push, and waits before it ends.
    package static func every(_ interval: Int) -> ReadingHabit {
        ReadingHabit(
            name: "looks every \(interval)", interval: interval, timeout: .zero,
            lastTimeout: .milliseconds(500))
    }
    /// The safe remedy: the sender waits for a reply after each push.
    package static let waiting = ReadingHabit(
        name: "waits 0.5 s each time", interval: 1, timeout: .milliseconds(500),
        lastTimeout: .milliseconds(500))

    package static let all = [naive, every(100), every(500), waiting]
}
