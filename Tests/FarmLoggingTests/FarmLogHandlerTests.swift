import Foundation
import Logging
import Testing

@testable import FarmLogging

struct FarmLogHandlerTests {
    private let time = Timestamp(milliseconds: 1_769_850_300_123)

    private func line(
        _ format: LogFormat, colours: Bool = false, _ level: Logger.Level, _ message: Logger.Message,
        _ metadata: Logger.Metadata = [:], error: (any Error)? = nil
    ) -> String {
        let handler = FarmLogHandler(label: "worker", level: .trace, format: format, colours: colours)
        let event = LogEvent(
            level: level, message: message, error: error, metadata: metadata, source: "Worker", file: "",
            function: "",
            line: 1)
        return handler.line(for: event, at: time)
    }

    @Test func `text has columns and its fields are sorted by key`() {
        let text = line(
            .text, .info, "connected",
            ["shard": "07", "app": "demo", "why": "a b", "n": .stringConvertible(3)])
        #expect(
            text
                == "2026-01-31T09:05:00.123Z info     worker       connected app=demo n=3 shard=07 why=\"a b\"\n"
        )
    }

    @Test func `colours are escape codes around unchanged text`() {
        let plain = line(.text, .error, "gone")
        let painted = line(.text, colours: true, .error, "gone")
        #expect(painted.contains("\u{1B}[31merror   \u{1B}[0m"))
        #expect(painted.replacing(/\u{1B}\[\d+m/, with: "") == plain)
    }

    @Test(arguments: ["a\nb", "a\rb", "\u{1B}[2J", "\u{9B}31m", "\u{2028}"])
    func `text from outside cannot forge a line`(message: String) {
        let text = line(.text, .info, "\(message)", ["key": "\(message)"])
        #expect(text.unicodeScalars.filter { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }.count == 1)
        #expect(text.hasSuffix("\n"))
    }

    @Test func `json keeps types and escapes`() throws {
        let text = line(
            .json, .warning, "say \"hi\"\n\u{1}",
            [
                "level": "taken", "count": .stringConvertible(12), "ok": .stringConvertible(true),
                "list": ["a", "b"], "map": ["k": "v"], "ratio": .stringConvertible(0.5),
            ])
        let object = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["at"] as? String == "2026-01-31T09:05:00.123Z")
        #expect(object["level"] as? String == "warning")
        #expect(object["level_"] as? String == "taken")
        #expect(object["message"] as? String == "say \"hi\"\n\u{1}")
        #expect(object["count"] as? Int == 12)
        #expect(object["ok"] as? Bool == true)
        #expect(object["ratio"] as? Double == 0.5)
        #expect(object["list"] as? [String] == ["a", "b"])
        #expect(object["map"] as? [String: String] == ["k": "v"])
    }

    @Test func `an error becomes a field`() {
        #expect(line(.text, .error, "failed", error: CancellationError()).contains("error=CancellationError"))
    }
}
