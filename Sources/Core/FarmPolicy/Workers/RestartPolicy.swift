/// When the process in one child's place is started again after it ended unasked.
///
/// A process that was ready and is ended from outside, or in order, starts again at once; when two in a row lasted less
/// than ``brief``, a little later. Crashes count as a row while nothing is achieved between them: the first is answered
/// at once, then 1 s, doubling to 60 s, with jitter. A process that never gets ready is not started for ever.
package struct RestartPolicy: Hashable, Sendable {
    package enum Decision: Hashable, Sendable {
        case start(after: Duration)
        /// Started no more, with an alarm, until ``reset()``: it ended this many times without having been
        /// ready.
        case giveUp(failedStarts: Int)
    }

    /// A process that was up for this long is sound: its next crash is a single one.
    package var calm: Duration = .seconds(60)
    /// A process that was up for less hardly lived.
    package var brief: Duration = .seconds(1)
    /// Between an end and the next start when lives are brief.
    package var breath: Duration = .milliseconds(300)
    package var allowedFailedStarts = 3

    private var backOff = BackOff(first: .seconds(1), longest: .seconds(60))
    private var isInRow = false
    private var wasBrief = false
    private var failedStarts = 0
    private var readySince: Instant?

    package init() {}

    /// The process was started and has sent its first ready beat.
    package mutating func ready(at now: Instant) {
        readySince = now
        failedStarts = 0
    }

    /// The process has made progress: the next crash has another cause than the last one.
    package mutating func progressed() {
        isInRow = false
        backOff.succeeded()
    }

    /// The process ended without having been asked to.
    package mutating func ended(
        _ cause: EndCause, at now: Instant, using random: inout some RandomNumberGenerator
    ) -> Decision {
        defer { readySince = nil }
        guard let readySince else { return endedUnready(cause, using: &random) }
        let life = readySince.duration(to: now)
        if life >= calm { progressed() }
        let isBrief = life < brief
        defer { wasBrief = isBrief }
        let soon: Decision = .start(after: isBrief && wasBrief ? breath : .zero)
        guard cause == .crash else { return soon }
        guard isInRow else {
            isInRow = true
            return soon
        }
        return .start(after: backOff.failed(using: &random))
    }

    private mutating func endedUnready(
        _ cause: EndCause, using random: inout some RandomNumberGenerator
    ) -> Decision {
        // Another's act says nothing about whether it would have got ready.
        if cause == .kill { return .start(after: breath) }
        failedStarts += 1
        guard failedStarts < allowedFailedStarts else { return .giveUp(failedStarts: failedStarts) }
        isInRow = true
        return .start(after: backOff.failed(using: &random))
    }

    /// Forgets all failures: an operator, or a new configuration, wants another try.
    package mutating func reset() {
        progressed()
        wasBrief = false
        failedStarts = 0
        readySince = nil
    }
}
