import Foundation

/// The complete results of a run, in the form of bench.json.
package struct BenchReport: Codable, Sendable, Hashable {
    package let setting: BenchSetting
    package let findings: [BenchFinding]

    package init(_ setting: BenchSetting, _ findings: [BenchFinding]) {
        (self.setting, self.findings) = (setting, findings)
    }

    /// Writes `bench.json`, `bench.txt` and `bench.svg`.
    package func write(to folder: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(fileURLWithPath: folder + "/bench.json"))
        try text.write(toFile: folder + "/bench.txt", atomically: true, encoding: .utf8)
        try BenchPicture(findings, setting).svg
            .write(toFile: folder + "/bench.svg", atomically: true, encoding: .utf8)
    }

    package var missed: [String] { findings.filter { !$0.isGood }.map(\.key) }

    package var text: String {
        let verdict = missed.isEmpty ? "every bar is met" : "MISSED in \(missed.joined(separator: ", "))"
        let parts = [setting.lines.joined(separator: "\n")] + findings.map(BenchTable.text) + [verdict]
        return parts.joined(separator: "\n\n") + "\n"
    }
}
