import FarmBench
import Testing

struct ReportTests {
    private static let measure = Measure("rate", "/s", "rate", beside: "h2load", bar: .atLeast(0.6))

    private func rounds(_ pairs: [(Double, Double)]) -> [Round] {
        pairs.map { Round(values: ["rate": $0.0, "h2load": $0.1]) }
    }

    @Test func `a ratio is taken within each round`() throws {
        // In the second round the machine was half as fast, which halves both values and does not change their ratio.
        let figure = try #require(Self.measure.figure(of: rounds([(70, 100), (35, 50), (66, 100)])))
        #expect(figure.ratio == Spread([0.7, 0.7, 0.66]) && figure.value.median == 66)
        #expect(figure.judged == 0.7 && figure.isReached == true)
    }

    @Test(arguments: [(0.59, false), (0.6, true), (0.61, true)])
    func `a value that equals the bar meets it`(ratio: Double, isReached: Bool) {
        #expect(Self.measure.figure(of: rounds([(ratio, 1)]))?.isReached == isReached)
    }

    @Test func `a value below an upper limit meets the bar`() {
        let measure = Measure("p99", "ms", "p99", bar: .atMost(10))
        #expect(measure.figure(of: [Round(values: ["p99": 10])])?.isReached == true)
        #expect(measure.figure(of: [Round(values: ["p99": 10.1])])?.isReached == false)
    }

    @Test func `a figure without its reference misses the bar`() {
        let figure = Self.measure.figure(of: [Round(values: ["rate": 1_000_000])])
        #expect(figure?.ratio == nil && figure?.isReached == false)
    }

    @Test func `a bar does not apply when the cores are full`() {
        let measure = Measure(
            "rate", "/s", "rate", beside: "limit", bar: .atLeast(0.8), unlessFull: "fullness")
        func isReached(_ fullness: Double) -> Bool? {
            let values = ["rate": 50, "limit": 100, "fullness": fullness]
            return measure.figure(of: [Round(values: values)])?.isReached
        }
        #expect(isReached(0.89) == false && isReached(0.93) == true)
    }

    @Test func `a bar without a measured value is missed`() {
        let finding = BenchFinding(key: "k", title: "t", [Self.measure], [Round()])
        #expect(finding.missing == ["rate"] && !finding.isGood)
    }

    @Test func `a case with a broken promise is not good even if its bars are met`() {
        var good = rounds([(70, 100)])
        #expect(BenchFinding(key: "k", title: "t", [Self.measure], good).isGood)
        good[0].broken = ["1 lost"]
        let finding = BenchFinding(key: "k", title: "t", [Self.measure], good)
        #expect(finding.broken == ["round 1: 1 lost"] && !finding.isGood)
    }

    @Test func `a table shows all results and warns of other processes`() {
        var some = rounds([(70, 100), (55, 100), (58, 100)])
        some[1].shareOfOthers = 0.07
        some[2].broken = ["1 lost"]
        let text = BenchTable.text(BenchFinding(key: "farm", title: "much", [Self.measure], some))
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            lines == [
                "farm: much", "median min … max beside ratio min … max bar",
                "rate 58.0 /s 55.0 … 70.0 h2load 100 × 0.58 0.55 … 0.70 ≥ 0.60 NO",
                "BROKEN: round 3: 1 lost", "others had 0 % (at most 7 %) of these cores",
                "WARNING: over 5 % is too much: do not trust these",
            ])
    }
}
