/// The part of the last minute's answers that were errors.
package struct ErrorShare: Sendable {
    private static let window = Duration.seconds(60)
    /// Of fewer answers nothing is said.
    private static let least: UInt64 = 50

    private var samples: [(at: Instant, answers: UInt64, errors: UInt64)] = []

    package init() {}

    /// - Parameters:
    ///   - answers: since a start, errors among them.
    /// - Returns: percent; nil of too few answers.
    package mutating func add(answers: UInt64, errors: UInt64, at now: Instant) -> Double? {
        samples.append((now, answers, errors))
        while samples.count > 2, samples[1].at.duration(to: now) >= Self.window { samples.removeFirst() }
        let count = answers &- samples[0].answers
        guard count >= Self.least else { return nil }
        return Double(errors &- samples[0].errors) * 100 / Double(count)
    }
}

/// Whether a process crashes repeatedly.
package struct CrashLoop: Sendable {
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
