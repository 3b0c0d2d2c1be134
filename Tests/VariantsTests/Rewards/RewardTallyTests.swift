import PushModel
import Testing
import Variants

struct RewardTallyTests {
    private static func bytes(_ fields: [String: String]) -> [String: [UInt8]] {
        fields.mapValues { Array($0.utf8) }
    }

    @Test func `pulls and rewards count for their variant`() {
        var tally = RewardTally(variants: ["a", "b"])
        tally.add(pulls: 2, to: .variant(0))
        tally.add(pulls: 1, thousandths: 250, to: .variant(1))
        tally.add(pulls: 1, thousandths: 1000, to: .holdout)
        tally.add(pulls: 9, to: .variant(2))
        #expect(tally.variants.map(\.pulls) == [2, 1] && tally.holdout.pulls == 1)
        #expect(tally.variants.map(\.rewards) == [0, 0.25] && tally.holdout.rewards == 1)
        #expect(tally.variants[1].estimate == 0.25)
        #expect(tally.variants[1].interval == ScoreInterval(successes: 0.25, trials: 1))
        #expect(tally.tallies == [VariantTally(pulls: 2), VariantTally(pulls: 1, rewards: 0.25)])
    }

    @Test func `the numbers of a tally are fields of a hash`() {
        let tally = RewardTally(
            variants: ["a", "b"],
            fields: Self.bytes([
                "pulls:a": "7", "rewards:a": "2500", "pulls:b": "x", "rewards:b": "-1", "pulls:@holdout": "4",
                "pulls:c": "9", "accepted:1": "5",
            ]))
        #expect(tally.variants.map(\.pulls) == [7, 0] && tally.variants.map(\.rewards) == [2.5, 0])
        #expect(tally.holdout.pulls == 4 && tally.holdout.rewards == 0)
        #expect(
            RewardTally.fields(ofVariants: ["a"]) == [
                "pulls:a", "pulls:@holdout", "rewards:a", "rewards:@holdout",
            ])
        let (pulls, names) = (RewardTally.Number.pulls, ["a", "b"])
        #expect(pulls.field(of: .variant(1), variants: names) == "pulls:b")
        #expect(pulls.field(of: .holdout, variants: names) == "pulls:@holdout")
        #expect(pulls.field(of: .variant(2), variants: names) == nil)
        #expect(RewardTally.isField("rewards:x") && !RewardTally.isField("accepted:1"))
    }

    @Test func `sums end at the largest readable number`() {
        var tally = RewardTally(variants: ["a"], fields: Self.bytes(["pulls:a": "281474976710656"]))
        tally.add(pulls: .max, thousandths: .max, to: .variant(0))
        let entry = tally.variants[0]
        #expect(entry.pulls == 1 << 48 && entry.thousandths == 1 << 48)
    }

    @Test(arguments: [(0, 0), (0.25, 250), (1, 1000), (0.0004, 0), (7, 1000), (-3, 0)])
    func `rewards are rounded to thousandths and limited`(reward: Double, thousandths: Int64) {
        #expect(RewardTally.thousandths(ofReward: reward) == thousandths)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `no reward ends the process`(reward: Double) {
        #expect((0...1000).contains(RewardTally.thousandths(ofReward: reward)))
    }
}
