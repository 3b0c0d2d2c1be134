import FarmBench
import Foundation
import Testing

struct PictureTests {
    private static let setting = BenchSetting(
        machine: "2 cores of <this> & that", memory: "4 GB", kernel: "Linux 6.1", day: "2026-11-22",
        versions: ["h2load": "1", "openssl": "3"], cores: [0, 1], command: "farm-bench")

    private var report: BenchReport {
        let worker = Measure("CPU a push", "µs", "worker", beside: "h2load", bar: .atMost(1))
        let rate = Measure("rate", "/s", "rate", bar: .atLeast(100))
        let hidden = Measure("told", "/s", "rate")
        let far = Measure("far", "/s", "rate", bar: .atLeast(10))
        let round = Round(values: ["worker": 8, "h2load": 6.4, "rate": 150])
        return BenchReport(
            Self.setting,
            [
                BenchFinding(key: "worker", title: "one worker", [worker], [round]),
                BenchFinding(key: "farm", title: "all of it", [rate, hidden, far], [round]),
            ])
    }

    @Test func `a picture is valid XML and shows how far each figure is from its bar`() throws {
        let svg = BenchPicture(report.findings, Self.setting).svg
        #expect(svg.hasPrefix("<svg ") && svg.hasSuffix("</svg>\n"))
        func bars(_ colour: String) -> [Double] {
            svg.matches(of: /width="([0-9.]+)" height="14.0" fill="(#\w+)"/)
                .filter { $0.2 == colour }.compactMap { Double($0.1) }
        }
        // A figure that equals its bar is drawn 180 points wide.
        // The three figures reach 6.4 / 8 of the bar, 1.5 times the bar, and more than twice the bar, where the drawing ends.
        #expect(bars("#d64541") == [144])
        #expect(bars("#2a9d5c").prefix(2) == [270, 360])
        #expect(bars("#b8b8b8").count == Peer.all.count && bars("#3a6ea5").count == 1)
        #expect(svg.matches(of: /<(text|svg)\b/).count == svg.matches(of: /<\/(text|svg)>/).count)
        #expect(svg.contains("of &lt;this> &amp; that") && !svg.contains(">told<"))
    }

    @Test func `a report can be written as JSON and lists the missed bars`() throws {
        let data = try JSONEncoder().encode(report)
        #expect(try JSONDecoder().decode(BenchReport.self, from: data) == report)
        #expect(report.missed == ["worker"])
        #expect(report.text.hasSuffix("\n\nMISSED in worker\n") && report.text.contains("cores 0 and 1"))
    }
}
