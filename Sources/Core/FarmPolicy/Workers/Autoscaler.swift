/// Chooses the number of workers of a host, from one to the number of processors.
///
/// A worker is one thread. The autoscaler adds a worker when work waits and the workers have used most of their processor time
/// for a while. The autoscaler adds no worker while workers wait for the gateway or Redis, because a new worker would not help.
/// The gain of each step up is measured. A step that adds too little speed is undone, and the next step is delayed. The
/// autoscaler removes a worker when the remaining workers would be at most half busy. Short peaks in which other programs used
/// the machine are ignored.
package struct Autoscaler: Sendable {
    /// The activity of the workers in the last second.
    package struct Reading: Sendable {
        /// The number of processors that all workers together used or waited for.
        package var busy: Double
        /// The number of sendable batches that no worker holds.
        package var waiting: Int
        /// The number of pushes settled per second.
        package var rate: Double

        package init(busy: Double, waiting: Int, rate: Double) {
            (self.busy, self.waiting, self.rate) = (busy, waiting, rate)
        }
    }

    package enum Reason: String, Sendable {
        /// The workers are fully busy and work waits.
        case busy
        /// Fewer workers can do the present work.
        case idle
        /// More workers did not increase the rate.
        case noGain = "no_gain"
        /// A new worker process did not start.
        case unstartable
        /// An operator requested the change.
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

    /// A worker that uses this share of a processor counts as fully busy.
    package static let full = 0.75
    /// A worker is removed if each remaining worker would use at most this share of a processor.
    package static let half = 0.5
    package static let sustainUp = Duration.seconds(3)
    package static let sustainDown = Duration.seconds(20)
    /// The time after a change before the next change is considered.
    package static let pause = Duration.seconds(5)
    /// How long the gain of a step up is measured.
    package static let trial = Duration.seconds(5)
    /// The wait after a step without gain. The wait doubles with each further step without gain in a row.
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

    /// Measures how long a condition has been true without interruption.
    private struct Span {
        private var start: Instant?
        private var sum = 0.0
        private var count = 0.0

        var rate: Double { count > 0 ? sum / count : 0 }

        /// - Returns: how long the condition has been true.
        mutating func observe(_ condition: Bool, rate: Double, at now: Instant) -> Duration {
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

    /// The recent load of all workers. A worker is removed only if this load shows that fewer workers are enough.
    private struct RecentLoad {
        private var seconds: [(end: Instant, busy: Double)] = []

        mutating func observe(_ busy: Double, at now: Instant) {
            seconds.append((now, busy))
            let start = now.advanced(by: .zero - Autoscaler.sustainDown)
            // Keep one value from before the period, as proof that the whole period was observed.
            let old = seconds.prefix { $0.end <= start }.count
            if old > 1 { seconds.removeFirst(old - 1) }
        }

        /// Returns the highest load, ignoring the busiest quarter of the time; nil before the whole period
        /// was observed.
        func most(at now: Instant) -> Double? {
            guard let first = seconds.first, first.end.duration(to: now) >= Autoscaler.sustainDown else {
                return nil
            }
            let sorted = seconds.map(\.busy).sorted()
            return sorted[(sorted.count - 1) * 3 / 4]
        }
    }

    /// A step up whose gain is being measured.
    private struct Trial {
        var before: Int
        var rate: Double
        var span = Span()
    }

    /// - Parameter workers: the initial number of workers.
    package init(most: Int, workers: Int = 1) {
        precondition(most > 0, "a host has at least one worker")
        self.most = most
        self.workers = min(max(1, workers), most)
    }

    /// Evaluates a reading; called every second.
    ///
    /// - Parameter reading: nil while workers start or exit.
    /// - Returns: the change to make; the autoscaler has already applied it to its own state.
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
        recentLoad.observe(reading.busy, at: now)
        if workers > 1, let busy = recentLoad.most(at: now).map({ max($0, reading.busy) }),
            busy <= Self.half * (number - 1)
        {
            return change(
                to: max(1, min(workers - 1, Int(clamping: (busy / Self.half).rounded(.up)))), .idle, at: now)
        }
        let pressedFor = pressed.observe(isPressed, rate: reading.rate, at: now)
        guard pressedFor >= Self.sustainUp, workers < most, noGainPauseEnd.map({ $0 <= now }) ?? true else {
            return nil
        }
        let rate = pressed.rate
        defer { trial?.rate = rate }
        trial = Trial(before: workers, rate: rate)
        return change(to: min(most, workers + max(1, workers / 2)), .busy, at: now)
    }

    /// Keeps the present number of workers, because new workers do not start.
    package mutating func stay(at number: Int, now: Instant) -> Change? {
        guard number < workers else { return nil }
        trial = nil
        pauseAfterNoGain(at: now)
        return change(to: max(1, number), .unstartable, at: now)
    }

    /// Measures a step up. If work waits and the additional workers settle too few additional pushes, undoes the step.
    private mutating func judge(_ reading: Reading, at now: Instant) -> Change? {
        guard var trial else { return nil }
        guard reading.waiting > 0 else {
            // The work ended before the gain could be measured.
            self.trial = nil
            return nil
        }
        let measured = trial.span.observe(true, rate: reading.rate, at: now)
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
