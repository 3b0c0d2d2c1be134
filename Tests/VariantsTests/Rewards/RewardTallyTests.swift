import PushModel
import Segments
import Testing
import Variants

struct RewardTallyTests {
    private static let text =
        #"{"variants":[{"name":"a\"b","pulls":9,"thousandths":2500},{"name":"c","pulls":0,"thousandths":0}],"holdout":{"pulls":4,"thousandths":1000}}"#

    @Test func `a device's first reward counts for its variant`() {
        var assignment = VariantAssignment()
        _ = assignment.assign(1, to: .variant(1))
        _ = assignment.assign(2, to: .holdout)
        _ = assignment.assign(3, to: .variant(0))
        var tally = RewardTally(variants: ["a", "b"])
        tally.addPulls(1, to: .variant(0))
        tally.addPulls(1, to: .variant(1))
        tally.addPulls(1, to: .holdout)
        var rewarded = OrdinalChunk()
        func count(_ reward: Double, _ ordinal: UInt16) -> RewardTally.Verdict {
            tally.count(reward, of: ordinal, assignment: assignment, rewarded: &rewarded)
        }
        #expect(count(0.25, 1) == .counted(.variant(1)))
        #expect(count(1, 1) == .repeated)
        #expect(count(7, 2) == .counted(.holdout))
        #expect(count(-3, 3) == .counted(.variant(0)))
        #expect(count(1, 3) == .repeated)
        #expect(count(1, 4) == .unassigned)
        #expect(tally.variants.map(\.rewards) == [0, 0.25] && tally.holdout.rewards == 1)
        #expect(tally.variants.map(\.pulls) == [1, 1] && tally.holdout.pulls == 1)
        #expect(rewarded.ordinals == [1, 2, 3])
        #expect(tally.variants[1].estimate == 0.25)
        #expect(tally.variants[1].interval == ScoreInterval(successes: 0.25, trials: 1))
    }

    @Test func `a reward that is no number counts as 0`() {
        var assignment = VariantAssignment()
        _ = assignment.assign(1, to: .variant(0))
        var (tally, rewarded) = (RewardTally(variants: ["a"]), OrdinalChunk())
        for reward in [Double.nan, .infinity] {
            _ = tally.count(reward, of: 1, assignment: assignment, rewarded: &rewarded)
            #expect(tally.variants[0].rewards == 0)
        }
    }

    @Test func `earlier runs of a series count by name`() {
        var earlier = RewardTally(variants: ["b", "old", "a"])
        for (index, pulls) in [10, 20, 30].enumerated() { earlier.addPulls(pulls, to: .variant(index)) }
        var tally = RewardTally(variants: ["a", "b", "new"])
        for index in 0..<3 { tally.addPulls(1, to: .variant(index)) }
        #expect(tally.tallies().map(\.pulls) == [1, 1, 1])
        #expect(tally.tallies(with: earlier).map(\.pulls) == [31, 11, 1])
        let sum = tally.added(to: earlier)
        #expect(sum.variants.map(\.name) == ["a", "b", "new", "old"])
        #expect(sum.variants.map(\.pulls) == [31, 11, 1, 20])
        #expect(tally.added(to: nil) == tally)
    }

    @Test func `a series remembers a bounded number of variants`() {
        var series: RewardTally?
        for run in 0..<20 { series = RewardTally(variants: ["a", "run \(run)"]).added(to: series) }
        let names = series?.variants.map(\.name)
        #expect(names?.count == VariantAssignment.mostVariants)
        #expect(names?.prefix(3) == ["a", "run 19", "run 18"])
    }

    @Test func `a tally is written as JSON and read back`() throws {
        let tally = try RewardTally(text: Array(Self.text.utf8))
        #expect(tally.text == Self.text)
        #expect(tally.variants.map(\.rewards) == [2.5, 0])
        var large = tally
        for _ in 0..<3 { large.addPulls(.max, to: .variant(0)) }
        #expect(try RewardTally(text: Array(large.text.utf8)) == large)
    }

    /// A change of the text, and the error.
    private static let wrong: [(String, String, String)] = [
        ("2500", "-1", #""thousandths" is missing or wrong"#),
        ("2500", "281474976710657", #""thousandths" is missing or wrong"#),
        (#""pulls":4,"#, "", #""pulls" is missing or wrong"#),
        (#""pulls":4"#, #""pulls":4,"pulls":4"#, #""pulls" is missing or wrong"#),
        (#""name":"c","#, "", #""name" is missing or wrong"#),
        (#""c""#, #""a\"b""#, #""name" is missing or wrong"#),
        (#""holdout""#, #""other""#, #""holdout" is missing or wrong"#),
        (#""variants""#, #""other""#, #""variants" is missing or wrong"#),
        ("2500", "2.5", "is not valid JSON: expected a whole number that fits 64 bits"),
    ]

    @Test(arguments: wrong) func `other texts are refused`(from: String, to: String, wanted: String) {
        let text = Self.text.replacing(from, with: to)
        do {
            _ = try RewardTally(text: Array(text.utf8))
            Issue.record("\(text) was read")
        } catch { #expect(error.description == wanted) }
    }

    @Test func `no bytes end the process, and what is read is written equal`() {
        var random = SeededRandom(seed: 4)
        let text = Array(Self.text.utf8)
        var readable = 0
        for _ in 0..<3000 {
            var bytes = text
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: bytes[index] = text.randomElement(using: &random)!
                case 1: bytes.remove(at: index)
                default: bytes.removeSubrange(index...)
                }
                if bytes.isEmpty { break }
            }
            guard let tally = try? RewardTally(text: bytes) else { continue }
            readable += 1
            #expect((try? RewardTally(text: Array(tally.text.utf8))) == tally)
        }
        #expect(readable > 30, "\(readable)")
    }
}
