/// A point in time on a monotonic clock.
package typealias Instant = ContinuousClock.Instant
