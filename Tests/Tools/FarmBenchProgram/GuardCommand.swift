import FarmBench
import Foundation

/// Compares the number of the worker's instructions per push with the counts in a file.
enum GuardCommand {
    /// - Returns: false if the counts have grown by too much.
    static func run(_ file: String, isRecording: Bool) async throws -> Bool {
        let before = FileManager.default.contents(atPath: file).flatMap {
            try? JSONDecoder().decode(HotPathFigure.self, from: $0)
        }
        let now = try await HotPathRun().figure()
        let report = HotPathReport(now, before: before)
        for line in report.lines { Main.say(line) }
        guard isRecording else { return report.isGood }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try (encoder.encode(now) + Data("\n".utf8)).write(to: URL(fileURLWithPath: file))
        Main.say("recorded in \(file)")
        return true
    }
}
