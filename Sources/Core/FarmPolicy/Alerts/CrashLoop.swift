/// Whether a process crashes repeatedly.
package struct CrashLoop: Sendable {
    package typealias Instant = ContinuousClock.Instant

    private static let window = Duration.seconds(60)
    private static let most = 3

    private var ends: [Instant] = []

    package init() {}

    package mutating func ended(at now: Instant) {
        ends.append(now)
        if ends.count > Self.most { ends.removeFirst() }
    }

    /// Three ends in a minute.
    package func isOn(at now: Instant) -> Bool {
        ends.count == Self.most && ends[0].duration(to: now) <= Self.window
    }
}
