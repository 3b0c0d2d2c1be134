/// A moment on a clock that does not go back.
package typealias Instant = ContinuousClock.Instant
