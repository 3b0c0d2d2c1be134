import BenchKit
import BinaryBench
import Foundation
import Testing

struct ReportTests {
    private var finding: ExperimentResult {
        let experiment = Experiment.all[1]
        var part = Tally(
            experiment.tokens, experiment: "b", sender: ReadingHabit.waiting.name, length: 10_000)
        (part.arrived, part.distinct, part.claimed, part.found) = (9_890, 9_880, 9_900, 99)
        (part.connections, part.mostConnections, part.seconds) = (100, 1, 45.6)
        let farm = VerdictTests.good()
        return ExperimentResult(experiment, [part, farm], ExperimentVerdict(on: farm, experiment))
    }

    @Test func `a table shows all senders' results and marks extrapolated ones`() {
        let lines = TallyTable.text(finding).split(separator: "\n").map { line in
            line.split(separator: " ").joined(separator: " ")
        }
        #expect(
            lines == [
                "(b) 100,000 tokens, 1,000 of them bad, evenly spread",
                "sender delivered lost doubled claimed bad found connections at a time time",
                "waits 0.5 s each time ~98,800 ~200 ~100 ~99,000 ~990 ~991 1 ~456 s",
                "the farm 99,000 0 0 99,000 1,000 1,040 61 12.3 s", "yes: every good one exactly once",
                "yes: 1,000 bad ones reported", "yes: within 20 s",
                "yes: at most 64 connections at a time",
            ])
        let widths = TallyTable.text(finding).split(separator: "\n")[1...3].map(\.count)
        #expect(Set(widths).count == 1, "columns under each other")
    }

    @Test func `a picture is valid XML and its bars fill their width`() throws {
        let svg = TallyPicture([finding]).svg
        #expect(svg.hasPrefix("<svg ") && svg.hasSuffix("</svg>\n"))
        func bars(_ colour: String) -> [Double] {
            svg.matches(of: /width="([0-9.]+)" height="14.0" fill="(#\w+)"/)
                .filter { $0.2 == colour }.compactMap { Double($0.1) }
        }
        let (delivered, lost) = (bars("#2a9d5c"), bars("#d64541"))
        #expect(delivered.count == 2 && lost.count == 2)
        #expect(zip(delivered, lost).allSatisfy { abs($0 + $1 - 430) < 0.11 })
        #expect(delivered[0] < 430 && delivered[1] == 430)
        #expect(svg.matches(of: /<(text|svg)\b/).count == svg.matches(of: /<\/(text|svg)>/).count)
        #expect(svg.contains("~98,800 delivered, ~200 lost, ~100 doubled; ~456 s"))
    }

    @Test(arguments: [
        (0, "0"), (999, "999"), (1_000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567"),
        (-1_000, "-1,000"),
    ])
    func `numbers are grouped by thousands`(number: Int, text: String) { #expect(number.grouped == text) }

    @Test(arguments: [(0.123, "0.12 s"), (12.34, "12.3 s"), (456.7, "457 s"), (50_000.0, "13.9 h")])
    func `times have a suitable number of digits`(seconds: Double, text: String) {
        #expect(seconds.time == text)
    }

    @Test func `results can be written and read as JSON`() throws {
        let data = try JSONEncoder().encode([finding])
        let read = try JSONDecoder().decode([ExperimentResult].self, from: data)
        #expect(read.first?.tallies == finding.tallies && read.first?.verdict == finding.verdict)
    }
}
