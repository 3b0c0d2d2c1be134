/// Decides which refused values from outside the log tells of: of each place one in ten minutes, however many come.
package struct RefusedValues: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package static let pause = Duration.seconds(600)
    /// Places that are remembered; what is refused at one more is not told before one of them is forgotten.
    package static let mostPlaces = 256

    private var told: [String: Instant] = [:]

    package init() {}

    /// A value was refused there: a key, a field of it, a channel.
    /// - Returns: whether the log tells of it.
    package mutating func isToBeTold(at place: String, now: Instant) -> Bool {
        if let last = told[place], now < last + Self.pause { return false }
        if told.count >= Self.mostPlaces, told[place] == nil {
            told = told.filter { now < $0.value + Self.pause }
            guard told.count < Self.mostPlaces else { return false }
        }
        told[place] = now
        return true
    }
}
