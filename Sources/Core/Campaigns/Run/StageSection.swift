import Scheduling

/// The times in which a group sends one stage of a round, or what is left of it.
struct StageSection {
    /// The devices that are left, by cohort: at least 1 until a step has found that the cohort has no further devices, because
    /// devices that joined after the count may have taken the places of counted devices.
    private var left: [Int]
    /// The chunks with devices, in order.
    let chunks: [AudienceChunk]
    let times: TimeRangeSet
    /// For each cohort, how many milliseconds of ``times`` are before its slot; nil if the cohorts follow each other without
    /// slots, as early as the rate allows.
    private let starts: [Int64]?
    private var pace: (slot: Int, pace: Pace)?

    /// - Parameters:
    ///   - left: the devices of the stage by cohort.
    ///   - slots: how the cohorts divide the times; nil for a campaign with a rate.
    init(left: [Int], chunks: [AudienceChunk], times: TimeRangeSet, slots: Slots?) {
        (self.left, self.chunks, self.times) = (left, chunks, times)
        let count = left.count
        let total = left.reduce(0, +)
        switch slots {
        case nil: starts = nil
        case .equal:
            starts = (0..<count).map { PlanShare.of(times.total, $0, count) }
        case .proportional:
            var before = 0
            var starts: [Int64] = []
            for number in left {
                starts.append(PlanShare.of(times.total, before, max(1, total)))
                before += number
            }
            self.starts = starts
        }
    }

    /// How cohorts divide the times of a stage.
    enum Slots {
        /// Each cohort has the same time, as in the plan.
        case equal
        /// Each cohort has time in proportion to its devices, because the stage did not go as planned.
        case proportional
    }

    var total: Int { left.reduce(0, +) }

    /// The end of the times; the distant past without times.
    var end: UTCTime { times.ranges.last?.upperBound ?? UTCTime(milliseconds: .min) }

    /// Notes that devices of a cohort were handled.
    mutating func handle(_ count: Int, ofCohort cohort: Int) {
        if left[cohort] > 0 { left[cohort] = max(1, left[cohort] - count) }
    }

    /// Notes that no device of a cohort is left.
    mutating func exhaust(cohort: Int) { left[cohort] = 0 }

    /// Moves a cursor to the first place at or after it where devices may be left; nil if there is none.
    func nextPosition(from cursor: SendCursor) -> SendCursor? {
        var (cohort, chunk, ordinal) = (cursor.cohort, cursor.chunk, cursor.ordinal)
        while cohort < left.count {
            if left[cohort] > 0, let next = chunks[checked: index(of: chunk)] {
                return SendCursor(cohort: cohort, chunk: next, ordinal: next == chunk ? ordinal : 0)
            }
            cohort += 1
            (chunk, ordinal) = (SendCursor.start.chunk, 0)
        }
        return nil
    }

    /// The chunk that follows a chunk; nil for the last chunk.
    func chunk(after chunk: AudienceChunk) -> AudienceChunk? {
        let index = index(of: chunk)
        return chunks[checked: chunks[checked: index] == chunk ? index + 1 : index]
    }

    /// The index of the first chunk that is not before a chunk.
    private func index(of chunk: AudienceChunk) -> Int {
        var (low, high) = (0, chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if chunks[middle] < chunk { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// When the slot of a cohort begins; nil if the cohort has no slot.
    func start(ofCohort cohort: Int) -> UTCTime? {
        starts.flatMap { times.slice($0[cohort]..<max($0[cohort] + 1, times.total)).ranges.first?.lowerBound }
    }

    /// Returns how many devices may be sent to now, and when to ask again if none.
    ///
    /// - Parameter cohort: the cohort of the cursor. Its slot has begun.
    mutating func available(
        fromCohort cohort: Int, at time: UTCTime, _ instant: Pace.Instant, ceiling: Double
    ) -> (count: Int, next: UTCTime?) {
        guard let starts else { return (left[cohort...].reduce(0, +), nil) }
        // Devices that a slot could not serve get their push in the next slot.
        let position = times.position(of: time)
        let slot = max(cohort, (starts.lastIndex { $0 <= position }) ?? 0)
        if pace?.slot != slot {
            let end = starts[checked: slot + 1] ?? times.total
            let span = times.slice(min(starts[slot], times.total - 1)..<max(starts[slot] + 1, end))
            pace = (slot, Pace(span, isEven: true, ceiling: ceiling))
        }
        pace?.pace.change(ceiling: ceiling)
        let count = pace?.pace.available(left: left[cohort...slot].reduce(0, +), at: time, instant) ?? 0
        return (count, pace?.pace.nextCall(after: time) ?? times.range(after: time)?.lowerBound)
    }

    /// Notes that pushes were sent.
    mutating func take(_ count: Int) { pace?.pace.take(count) }
}
