/// How many workers a host runs when that is left to it: from one to as many as it has processors.
///
/// A worker is one thread. Another one comes when work waits and the workers have taken most of their processors for a while;
/// workers that wait for the gateway or for Redis lack connections or a faster Redis, and no process. What a step up was
/// worth is seen afterwards: a step without a gain is taken back, and the next one waits longer. Workers go when what is
/// left takes the rest of them half of their time, whatever single seconds say in which the machine was another's.
package struct Autoscaler: Sendable {
    /// What the workers did in the last second.
    package struct Reading: Sendable {
        /// Processors that all workers took or stood in line for, together.
        package var busy: Double
        /// Batches that could be sent and that no worker holds.
        package var waiting: Int
        /// Pushes that were settled.
        package var rate: Double

        package init(busy: Double, waiting: Int, rate: Double) {
            (self.busy, self.waiting, self.rate) = (busy, waiting, rate)
        }
    }

    package enum Reason: String, Sendable {
        /// The workers are at their end and work waits.
        case busy
        /// Fewer do the same work.
        case idle
        /// More of them brought nothing.
        case noGain = "no_gain"
        /// A process that was to be one does not start.
        case unstartable
        /// An operator said so.
        case `operator`
    }

    package struct Change: Equatable, Sendable {
        package let from: Int
        package let to: Int
        package let reason: Reason

        package init(from: Int, to: Int, reason: Reason) {
            (self.from, self.to, self.reason) = (from, to, reason)
        }
    }

    /// A worker that takes so much of a processor is at its end.
    package static let full = 0.75
    /// What a worker should have left to do, at most, when another one goes.
    package static let half = 0.5
    package static let sustainUp = Duration.seconds(3)
    package static let sustainDown = Duration.seconds(20)
    /// After a change, until the next one is thought of.
    package static let pause = Duration.seconds(5)
    /// How long what a step up was worth is measured.
    package static let trial = Duration.seconds(5)
    /// After a step without effect; doubles with each in a row.
    package static let noGainPause = Duration.seconds(60)
    package static let longestNoGainPause = Duration.seconds(960)

    package let most: Int
    package private(set) var workers = 1
    private var pressed = Span()
    private var recentLoad = RecentLoad()
    private var pauseEnd: Instant?
    private var trial: Trial?
    private var noGainPause = Self.noGainPause
    private var noGainPauseEnd: Instant?

    /// A time in which something was so all along.
    private struct Span {
        private var start: Instant?
        private var sum = 0.0
        private var count = 0.0

        var rate: Double { count > 0 ? sum / count : 0 }

        /// - Returns: how long it has been so.
        mutating func see(_ condition: Bool, rate: Double, at now: Instant) -> Duration {
            guard condition else {
                self = Span()
                return .zero
            }
            sum += rate
            count += 1
            guard let start else {
                start = now
                return .zero
            }
            return start.duration(to: now)
        }
    }

    /// How busy the workers were in the time that must show that fewer of them are enough.
    private struct RecentLoad {
        private var seconds: [(end: Instant, busy: Double)] = []

        mutating func see(_ busy: Double, at now: Instant) {
            seconds.append((now, busy))
            let start = now.advanced(by: .zero - Autoscaler.sustainDown)
            // One from before says that there was such a time.
            let old = seconds.prefix { $0.end <= start }.count
            if old > 1 { seconds.removeFirst(old - 1) }
        }

        /// So busy at most, but for the busiest quarter of the time; nil before all of it has passed.
        func most(at now: Instant) -> Double? {
            guard let first = seconds.first, first.end.duration(to: now) >= Autoscaler.sustainDown else {
                return nil
            }
            let sorted = seconds.map(\.busy).sorted()
            return sorted[(sorted.count - 1) * 3 / 4]
        }
    }

    /// A step up that has yet to show what it is worth.
    private struct Trial {
        var before: Int
        var rate: Double
        var span = Span()
    }

    /// - Parameter workers: so many to begin with.
    package init(most: Int, workers: Int = 1) {
        precondition(most > 0, "a host has at least one worker")
        self.most = most
        self.workers = min(max(1, workers), most)
    }

    /// To be asked every second.
    ///
    /// - Parameter reading: nil while workers come or go.
    /// - Returns: what is to change, and has changed here.
    package mutating func evaluate(_ reading: Reading?, at now: Instant) -> Change? {
        guard let reading else {
            (pressed, recentLoad) = (Span(), RecentLoad())
            pauseEnd = now.advanced(by: Self.pause)
            return nil
        }
        if let pauseEnd, now < pauseEnd { return nil }
        let number = Double(workers)
        let isPressed = reading.waiting > 0 && reading.busy >= Self.full * number
        if trial != nil { return judge(reading, at: now) }
        recentLoad.see(reading.busy, at: now)
        if workers > 1, let busy = recentLoad.most(at: now).map({ max($0, reading.busy) }),
            busy <= Self.half * (number - 1)
        {
            return change(
                to: max(1, min(workers - 1, Int(clamping: (busy / Self.half).rounded(.up)))), .idle, at: now)
        }
        let pressedFor = pressed.see(isPressed, rate: reading.rate, at: now)
        guard pressedFor >= Self.sustainUp, workers < most, noGainPauseEnd.map({ $0 <= now }) ?? true else {
            return nil
        }
        let rate = pressed.rate
        defer { trial?.rate = rate }
        trial = Trial(before: workers, rate: rate)
        return change(to: min(most, workers + max(1, workers / 2)), .busy, at: now)
    }

    /// Workers that were to come do not: it stays at so many.
    package mutating func stay(at number: Int, now: Instant) -> Change? {
        guard number < workers else { return nil }
        trial = nil
        pauseAfterNoGain(at: now)
        return change(to: max(1, number), .unstartable, at: now)
    }

    /// While there is more to do than is done, more workers must do more of it.
    private mutating func judge(_ reading: Reading, at now: Instant) -> Change? {
        guard var trial else { return nil }
        guard reading.waiting > 0 else {
            // The work was done before anything could be said.
            self.trial = nil
            return nil
        }
        let measured = trial.span.see(true, rate: reading.rate, at: now)
        self.trial = trial
        guard measured >= Self.trial else { return nil }
        self.trial = nil
        let expected = Double(workers - trial.before) / Double(trial.before)
        guard trial.span.rate < trial.rate * (1 + expected / 4) else {
            noGainPause = Self.noGainPause
            return nil
        }
        pauseAfterNoGain(at: now)
        return change(to: trial.before, .noGain, at: now)
    }

    private mutating func pauseAfterNoGain(at now: Instant) {
        noGainPauseEnd = now.advanced(by: noGainPause)
        noGainPause = min(noGainPause * 2, Self.longestNoGainPause)
    }

    private mutating func change(to number: Int, _ reason: Reason, at now: Instant) -> Change {
        let change = Change(from: workers, to: number, reason: reason)
        workers = number
        pauseEnd = now.advanced(by: Self.pause)
        (pressed, recentLoad) = (Span(), RecentLoad())
        return change
    }
}
