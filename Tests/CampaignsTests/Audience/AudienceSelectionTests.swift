import Campaigns
import PushModel
import RandomTesting
import Scheduling
import Segments
import Testing

struct AudienceSelectionTests {
    private static let full = OrdinalChunk((0...UInt16.max))

    private func cells(stages: [Double] = [], cohorts: Int = 1, round: Int = 1) throws -> AudienceCells {
        let schedule = try CampaignSchedule(
            spread: .rate(1), stages: stages.map { .init(share: $0, gate: .resume) }, cohorts: cohorts)
        return AudienceCells(schedule, salt: "edition", round: round)
    }

    @Test func `a device that is sent, done or newer than the start is not chosen`() throws {
        let chunk = AudienceChunk(partition: 3, number: 1)
        let selection = AudienceSelection(
            chunk, members: OrdinalChunk([1, 2, 3, 4, 900]), sent: OrdinalChunk([2]), done: OrdinalChunk([3]),
            limit: 65_536 + 900, cells: try cells())
        let choice = selection.choose(
            AudienceCells.Cell(stage: 0, cohort: 0), from: 0, to: OrdinalChunk.size, most: 10)
        #expect(choice.ordinals == [1, 4])
        #expect(choice.isExhausted)
        #expect(choice.next == OrdinalChunk.size)
    }

    @Test(arguments: [
        (0, 0), (65_536, 0), (65_537, 1), (65_600, 64), (65_599, 63), (131_072, 65_536), (999_999, 65_536),
    ])
    func `only ordinals below the limit are in the audience`(limit: Int, expected: Int) throws {
        let selection = AudienceSelection(
            AudienceChunk(partition: 0, number: 1), members: Self.full, sent: OrdinalChunk(),
            done: OrdinalChunk(),
            limit: limit, cells: try cells())
        var counts = [0]
        selection.count(into: &counts)
        #expect(counts == [expected])
        #expect(selection.isEmpty == (expected == 0))
    }

    /// Steps with random bounds must give each device of each cell exactly once.
    @Test(arguments: 1...20) func `steps choose each device of a cell once`(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let members = OrdinalChunk((0..<5_000).map { _ in UInt16(random.int(in: 0...65_535)) })
        let cells = try cells(stages: [0.1, 0.4, 1], cohorts: 3)
        let chunk = AudienceChunk(partition: random.int(in: 0...255), number: random.int(in: 0...255))
        let selection = AudienceSelection(
            chunk, members: members, sent: OrdinalChunk(), done: OrdinalChunk(), limit: 1 << 24, cells: cells)
        var counts = Array(repeating: 0, count: cells.count)
        selection.count(into: &counts)
        var seen = OrdinalChunk()
        for stage in 0..<3 {
            for cohort in 0..<3 {
                let cell = AudienceCells.Cell(stage: stage, cohort: cohort)
                var (next, number, isExhausted) = (0, 0, false)
                while !isExhausted {
                    let end = min(65_536, next + random.int(in: 1...20_000))
                    let choice = selection.choose(cell, from: next, to: end, most: random.int(in: 1...200))
                    for ordinal in choice.ordinals {
                        try #require(!seen[ordinal] && Int(ordinal) >= next && Int(ordinal) < end)
                        seen[ordinal] = true
                    }
                    try #require(choice.next > next || choice.isExhausted)
                    (next, isExhausted) = (choice.next, choice.isExhausted)
                    number += choice.ordinals.count
                }
                #expect(number == counts[cells.index(of: cell)])
            }
        }
        #expect(seen == members)
    }

    @Test func `stages and cohorts have their shares of the devices`() throws {
        let cells = try cells(stages: [0.01, 0.1, 1], cohorts: 4)
        var counts = Array(repeating: 0, count: cells.count)
        AudienceSelection(
            AudienceChunk(partition: 0, number: 0), members: Self.full, sent: OrdinalChunk(),
            done: OrdinalChunk(),
            limit: 65_536, cells: cells
        ).count(into: &counts)
        let stages = (0..<3).map { stage in counts[stage * 4..<stage * 4 + 4].reduce(0, +) }
        #expect((500...820).contains(stages[0]))
        #expect((5_500...6_300).contains(stages[1]))
        for cohort in 0..<4 {
            let number = stride(from: cohort, to: 12, by: 4).reduce(0) { $0 + counts[$1] }
            #expect((15_900...16_900).contains(number))
        }
    }

    @Test func `later rounds have the cohorts of the first round, and no stages`() throws {
        let (first, second) = (
            try cells(stages: [0.5, 1], cohorts: 5), try cells(stages: [0.5, 1], cohorts: 5, round: 2)
        )
        #expect(second.count == 5)
        for ordinal in 0..<1_000 {
            let cell = second.cell(partition: 7, ordinal: ordinal)
            #expect(cell.stage == 0)
            #expect(cell.cohort == first.cell(partition: 7, ordinal: ordinal).cohort)
        }
    }
}
