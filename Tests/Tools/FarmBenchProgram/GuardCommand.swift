import FarmBench
import Foundation

/// The worker's instructions a push beside those that were recorded in a file.
enum GuardCommand {
    /// - Returns: whether they have not grown by too much.
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
