/// Keeps two pushes of a merge group to the same device apart.
///
/// The time is divided into slots. For each slot and chunk of devices there is a bitmap of the devices that got a push of the group
/// in the slot. A device gets no push while it is in one of the last slots.
package struct MergeSpacing: Hashable, Sendable {
    /// The least time between two pushes if no campaign of the group repeats more often, in milliseconds: 20 minutes, because
    /// devices get at most two or three background pushes an hour.
    package static let longest: Int64 = 20 * 60_000
    /// The number of slots in the longest time: a slot has 30 seconds.
    private static let slots: Int64 = 40

    /// The least time between two pushes, in milliseconds. A device may have to wait longer by at most one slot, because its
    /// last push may have been at the end of the push's slot.
    package let gap: Int64
    /// The length of a slot in milliseconds.
    private let slot: Int64

    /// - Parameters:
    ///   - every: the time between two rounds of each campaign of the group that repeats, in milliseconds.
    ///   - factor: by which all durations are divided, 1 or more.
    package init(every: some Sequence<Int64>, factor: Double = 1) {
        let longest = max(Self.slots, Int64(clamping: Double(Self.longest) / max(1, factor)))
        slot = longest / Self.slots
        gap = max(1, every.reduce(longest, min))
    }

    /// The slot of a time.
    package func slot(at time: UTCTime) -> Int64 { time.milliseconds.dividedDown(by: slot).quotient }

    /// The slots whose devices get no push at a time, the latest slot last.
    package func closedSlots(at time: UTCTime) -> Range<Int64> {
        slot(at: time.adding(milliseconds: -gap))..<slot(at: time) + 1
    }

    /// The time at which devices of a slot may get their next push.
    package func end(ofSlot number: Int64) -> UTCTime {
        UTCTime(milliseconds: number.multiplied(saturating: slot)).adding(milliseconds: slot)
            .adding(milliseconds: gap)
    }

    /// The time at which the bitmap of a slot is no longer needed.
    package func expiry(ofSlot number: Int64) -> UTCTime {
        UTCTime(milliseconds: number.multiplied(saturating: slot))
            .adding(milliseconds: slot * (Self.slots + 2) + 60_000)
    }

    /// The key of a slot's bitmap for a chunk, without the prefix of the app's keys.
    package func key(_ number: Int64, of group: String, partition: Int, chunk: Int) -> String {
        "merged:\(group):\(number):\(partition < 10 ? "0" : "")\(partition):\(chunk)"
    }
}
