import Scheduling
import Testing

struct MergeClockTests {
    private static let minute: Int64 = 60_000
    private static let five = utc("2026-11-26T05:00Z")

    /// Minutes after five o'clock.
    private static func time(_ minutes: Int64) -> UTCTime { five.adding(milliseconds: minutes * minute) }

    /// A campaign by the minute of its start, the minutes between its rounds, and its number of rounds.
    private typealias Plan = (start: Int64, every: Int64, rounds: Int)

    /// Returns the rounds of a group: the minute, and the indexes of the campaigns.
    private static func rounds(_ plans: [Plan]) -> [(Int64, [Int])] {
        let clock = MergeClock(every: plans.map { $0.every * minute })
        var entries = Dictionary(
            uniqueKeysWithValues: plans.indices.map { index in
                let start = time(plans[index].start)
                return (index, (entry: MergeClock.Entry(startsAt: start, dueAt: start), sent: 0))
            })
        var (last, rounds) = (UTCTime?.none, [(Int64, [Int])]())
        while let round = clock.nextRound(of: entries.values.map(\.entry), last: last) {
            let due = entries.filter { clock.isDue($0.value.entry, inRoundAt: round) }.keys.sorted()
            rounds.append(((round.milliseconds - five.milliseconds) / minute, due))
            for index in due {
                let (entry, sent) = entries[index]!
                let next = round.adding(milliseconds: plans[index].every * minute)
                entries[index] =
                    sent + 1 < plans[index].rounds
                    ? (.init(startsAt: entry.startsAt, dueAt: next), sent + 1) : nil
            }
            last = round
        }
        return rounds
    }

    private static let known: [([Plan], [(Int64, [Int])])] = [
        ([(0, 25, 3)], [(0, [0]), (25, [0]), (50, [0])]),
        // A campaign that starts later waits for the group's next round.
        ([(0, 25, 3), (10, 25, 3)], [(0, [0]), (25, [0, 1]), (50, [0, 1]), (75, [1])]),
        // A campaign is never sent before its start, even if the start is near.
        ([(0, 25, 2), (1, 25, 1)], [(0, [0]), (25, [0, 1])]),
        // A campaign with rarer rounds is in the rounds that are nearest.
        (
            [(0, 20, 5), (0, 50, 3)],
            [(0, [0, 1]), (20, [0]), (40, [0, 1]), (60, [0]), (80, [0, 1])]
        ),
        ([(0, 25, 1), (120, 25, 1)], [(0, [0]), (120, [1])]),
    ]

    @Test(arguments: known.indices) func `campaigns of a group share rounds`(index: Int) {
        let (plans, wanted) = Self.known[index]
        let found = Self.rounds(plans)
        #expect(found.map(\.0) == wanted.map(\.0) && found.map(\.1) == wanted.map(\.1), "\(found)")
    }

    @Test func `without campaigns there is no round, and without repeats rounds are 20 minutes apart`() {
        let clock = MergeClock(every: [])
        #expect(clock.nextRound(of: [], last: nil) == nil)
        let entry = MergeClock.Entry(startsAt: Self.time(0), dueAt: Self.time(0))
        #expect(clock.nextRound(of: [entry], last: Self.time(-5)) == Self.time(15))
    }
}
