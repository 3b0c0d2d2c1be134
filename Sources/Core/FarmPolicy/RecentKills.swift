/// How often workers of this host were killed from outside lately: a kill says nothing about a push while others are
/// killed too.
package struct RecentKills: Hashable, Sendable {
    package typealias Instant = ContinuousClock.Instant

    package var window: Duration = .seconds(60)
    private var kills: [Instant] = []

    package init() {}

    /// - Returns: kills within the window, with this one.
    package mutating func add(at now: Instant) -> Int {
        kills.removeAll { $0.duration(to: now) > window }
        kills.append(now)
        return kills.count
    }

    /// The cause of what there was is found: it speaks neither for nor against other pushes.
    package mutating func explain() { kills = [] }
}
