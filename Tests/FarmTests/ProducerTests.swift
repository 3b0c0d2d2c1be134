import FarmHarness
import Foundation
import Testing

extension BusyFarms {
    /// The producers of docs/jobs.md, as they stand there.
    struct ProducerTests {
        private static let page = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("docs/jobs.md")

        /// The first program of a language below the headline "Producers".
        private static func program(_ language: String) throws -> String {
            let page = try String(contentsOf: page, encoding: .utf8)
            let producers = try #require(page.components(separatedBy: "\n## Producers\n").last)
            let blocks = producers.components(separatedBy: "```\(language)\n").dropFirst()
            return try #require(blocks.first?.components(separatedBy: "\n```").first)
        }

        private static var hasPythonClient: Bool {
            get async throws {
                let folder = try TestFolder()
                let probe = try Child("probe", "python3", ["-c", "import redis"], in: folder.path)
                return try await probe.wait() == .exited(0)
            }
        }

        @Test func `each language submits, with what to do when it is told to wait`() throws {
            for language in ["python", "js", "ruby", "php", "go"] {
                let text = try Self.program(language)
                for word in ["pushfarm_submit", "BUSY", "OK", "DUPLICATE", "REFUSED", "order-4711"] {
                    #expect(text.contains(word), "\(language): \(word)")
                }
            }
        }

        @Test func `the Python producer waits while the farm is full, then its job is delivered`()
            async throws
        {
            // Where its client is not installed the wire is tested all the same: see PressureTests, UserTests.
            guard try await Self.hasPythonClient else { return }
            let farm = try await Farm()
            _ = try await farm.ready()
            let client = try farm.redis.client()
            let tokens = Tokens.make(20)
            let text = try Self.program("python")
                .replacingOccurrences(
                    of: "redis.Redis(", with: "redis.Redis(unix_socket_path=\"\(farm.redis.socket)\", "
                )
                .replacingOccurrences(
                    of: "\"tokens\": tokens", with: "\"tokens\": \(tokens.description)")
            let file = try farm.folder.write(text, to: "producer.py")
            try client.run("CONFIG", "SET", "maxmemory", "1")
            let producer = try Child("producer", "python3", [file], in: farm.folder.path)
            try await eventually("it is refused") {
                let statistics = try client.run("INFO", "commandstats").text ?? ""
                let calls = statistics.split(separator: "\r\n").first { $0.hasPrefix("cmdstat_fcall:") }
                return calls.map { !$0.contains("rejected_calls=0,failed_calls=0") } ?? false
            }
            #expect(!producer.hasEnded)
            try client.run("CONFIG", "SET", "maxmemory", "0")
            #expect(try await producer.wait() == .exited(0), "\(producer.error)")
            #expect(try await farm.finished("order-4711").delivered == 20)
            #expect(try farm.gateway.ledger().lost(of: tokens) == 0)
        }
    }
}
