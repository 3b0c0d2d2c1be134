import BinaryBench
import Testing

struct PlanTests {
    @Test func `the bad tokens are at the places of the experiment`() {
        let spread = ExperimentTokens(count: 100_000, bad: .evenly(1_000))
        #expect(spread.badCount(among: 100_000) == 1_000)
        let short = ExperimentTokens(count: 10_000, bad: .evenly(100))
        #expect((0..<100).allSatisfy { short.badCount(among: $0 * 100) == $0 })
        let pairs = ExperimentTokens(count: 5, bad: .everySecond)
        #expect((0..<5).map(pairs.isBad) == [false, true, false, true, false])
        let one = ExperimentTokens(count: 1_000, bad: .at(20))
        #expect((0..<1_000).filter(one.isBad) == [19])
        #expect(ExperimentTokens(count: 10).badCount(among: 10) == 0)
    }

    @Test func `tokens are different, and the simulator refuses exactly the bad ones`() {
        let list = ExperimentTokens(count: 2_000, bad: .evenly(20))
        let tokens = (0..<2_000).map(list.hex)
        #expect(Set(tokens).count == 2_000 && tokens.allSatisfy { $0.utf8.count == 64 })
        #expect(tokens.indices.allSatisfy { tokens[$0].hasPrefix("bad00000") == list.isBad($0) })
        #expect(list.hex(7) == list.token(7).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    }

    @Test func `senders share a list without gaps or overlaps`() {
        let list = ExperimentTokens(count: 4_000)
        let shares = (0..<4).map { list.indices(among: 4_000, of: $0, senders: 4) }
        #expect(shares.joined().sorted() == Array(0..<4_000))
        #expect(shares.allSatisfy { (800...1_200).contains($0.count) })
    }

    @Test func `only the sender that waits after each push sends a part of the list, limited by time`() throws
    {
        let bad = try #require(Experiment.all.first { $0.letter == "b" })
        #expect(
            [ReadingHabit.naive, .every(100), .every(500)].allSatisfy {
                bad.part(for: $0, budget: 1) == 100_000
            })
        #expect(bad.part(for: .waiting, budget: 45) == 90)
        #expect(bad.part(for: .waiting, budget: 0) == 1)
        #expect(bad.part(for: .waiting, budget: 1_000_000) == 100_000)
        let shared = try #require(Experiment.all.first { $0.letter == "g" })
        #expect(shared.part(for: .waiting, budget: 45) == 360)
    }

    @Test func `the series has seven experiments and four more about time`() {
        #expect(Experiment.all.map(\.letter) == ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"])
        #expect(
            Experiment.all.map(\.tokens.count) == [
                100_000, 100_000, 1_000, 5, 1_000_000, 10_000, 100_000, 100_000, 100_000, 100_000, 100_000,
            ])
        #expect(Experiment.all.map(\.comparesSenders) == (0..<11).map { $0 < 7 })
        #expect(Experiment.all.map(\.longest) == [nil, 20, nil, nil, 60, nil, nil, 10, 60, nil, nil])
        #expect(Experiment.all.compactMap(\.dialSeconds) == [1, 3])
    }
}
