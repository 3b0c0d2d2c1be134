/// When the process in one worker's place is started again after it ended unasked.
///
/// A single crash is answered at once. When the new process does not stay up for ``calm`` after it was ready,
/// crashes count as a row: 1 s, doubling to 60 s, with jitter. A worker that never gets ready is not started
/// for ever.
package struct RestartPolicy: Hashable, Sendable {
    package typealias Instant = ContinuousClock.Instant

    package enum Decision: Hashable, Sendable {
        case start(after: Duration)
        /// Started no more, with an alarm, until ``reset()``: it ended this many times without having been
        /// ready.
        case giveUp(failedStarts: Int)
    }

    /// A worker that was up for this long is sound: its next crash is a single one.
    package var calm: Duration = .seconds(60)
    package var allowedFailedStarts = 3

    private var backOff = BackOff(first: .seconds(1), longest: .seconds(60))
    private var hasCrashed = false
    private var failedStarts = 0
    private var readySince: Instant?

    package init() {}

    /// The process was started and has sent its first ready beat.
    package mutating func ready(at now: Instant) {
        readySince = now
        failedStarts = 0
    }

    /// The process has achieved something: what ends it next is not what ended the one before.
    package mutating func progressed() {
        hasCrashed = false
        backOff.succeeded()
    }

    /// The process ended without having been asked to.
    package mutating func ended(at now: Instant, using random: inout some RandomNumberGenerator) -> Decision {
        defer { readySince = nil }
        guard let readySince else {
            failedStarts += 1
            guard failedStarts < allowedFailedStarts else { return .giveUp(failedStarts: failedStarts) }
            hasCrashed = true
            return .start(after: backOff.failed(using: &random))
        }
        if readySince.duration(to: now) >= calm {
            hasCrashed = false
            backOff.succeeded()
        }
        guard hasCrashed else {
            hasCrashed = true
            return .start(after: .zero)
        }
        return .start(after: backOff.failed(using: &random))
    }

    /// The process ended in order, for a reason that lies elsewhere: the next one starts at once, and nothing is counted.
    ///
    /// One that had not been ready failed to start, whatever it says.
    package mutating func steppedDown(
        at now: Instant, using random: inout some RandomNumberGenerator
    ) -> Decision {
        guard readySince != nil else { return ended(at: now, using: &random) }
        readySince = nil
        return .start(after: .zero)
    }

    /// Forgets all failures: an operator, or a new configuration, wants another try.
    package mutating func reset() {
        backOff.succeeded()
        hasCrashed = false
        failedStarts = 0
        readySince = nil
    }
}
