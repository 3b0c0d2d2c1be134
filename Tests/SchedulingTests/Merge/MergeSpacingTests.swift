import RandomTesting
import Scheduling
import Testing

struct MergeSpacingTests {
    private static let minute: Int64 = 60_000
    private static let five = utc("2026-11-26T05:00Z")

    @Test(arguments: [([], 1, 20), ([25], 1, 20), ([25, 15], 1, 15), ([30], 10, 2)])
    func `pushes are 20 minutes apart, or as far as the rounds of a campaign`(
        every: [Int64], factor: Double, minutes: Int64
    ) {
        let spacing = MergeSpacing(every: every.map { $0 * Self.minute }, factor: factor)
        #expect(spacing.gap == minutes * Self.minute)
    }

    @Test func `a device of a slot gets its next push when the gap is over, at most one slot later`() {
        var random = SplitMix(seed: 5)
        let slot = MergeSpacing.longest / 40
        for every in [Int64](arrayLiteral: 1, 7, 15, 20, 60) {
            let spacing = MergeSpacing(every: [every * Self.minute])
            for _ in 0..<200 {
                let push = Self.five.adding(milliseconds: Int64(random.int(in: 0...3_600_000)))
                let number = spacing.slot(at: push)
                let end = spacing.end(ofSlot: number)
                let wait = end.milliseconds - push.milliseconds
                #expect(wait > spacing.gap && wait <= spacing.gap + slot)
                #expect(!spacing.closedSlots(at: end).contains(number))
                let before = end.adding(milliseconds: -1)
                #expect(spacing.closedSlots(at: before).contains(number))
                #expect(spacing.expiry(ofSlot: number) > end)
            }
        }
    }

    @Test func `a bitmap has a key for each slot and chunk`() {
        let spacing = MergeSpacing(every: [])
        #expect(spacing.key(7, of: "editions", partition: 3, chunk: 12) == "merged:editions:7:03:12")
        #expect(spacing.closedSlots(at: Self.five).count == 41)
    }
}
