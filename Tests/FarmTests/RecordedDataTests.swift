import FarmHarness
import Foundation
import RedisProtocol
import Testing

/// Starts farms on recorded Redis data: data of the current format (`format-1.txt`), and data of other formats.
///
/// Later releases must keep the recorded file, because they must also deliver the pushes of data in this format.
@Suite(.startsProcesses(limit: .seconds(300))) struct RecordedDataTests {
    private static let record = Repository.root.appendingPathComponent(
        "Tests/FarmTests/Recorded/format-1.txt")
    private static let jobs = ["high", "bulk", "later", "held", "inbox"]
    private static let size = 120

    @Test func `a farm delivers every open push of recorded data`() async throws {
        let entries = try String(contentsOf: Self.record, encoding: .utf8).split(separator: "\n")
        let farm = try await Farm(hosts: ["here"], Farm.Options(workers: 1))
        let redis = try farm.redis.client()
        for entry in entries {
            let words = entry.split(separator: " ")
            var restore = RESPCommand("RESTORE", String(words[0]), "0")
            restore.append([UInt8](try #require(Data(base64Encoded: String(words[1])))))
            try redis.run(restore)
        }
        try farm.start("here")
        let open = try redis.run("HGET", "{pushfarm:demo}:load", "open").text.flatMap { Int($0) } ?? 0
        #expect(open > 3 * Self.size, "too few pushes are open in the record")
        #expect(try await farm.run("resume", "held").status == 0)
        for id in Self.jobs {
            let jobRecord = try await farm.finished(id)
            #expect(jobRecord.delivered == Self.size, "\(jobRecord)")
        }
        #expect(try farm.gateway.requestCount() >= open)
        #expect(try redis.run("HGET", "{pushfarm:demo}:load", "open").text == "0")
        let check = try await farm.run("debug", "fsck")
        #expect(check.status == 0, "\(check)")
    }

    @Test(arguments: [nil, "2"] as [String?])
    func `a coordinator refuses data in another format and reports the number of open pushes`(format: String?)
        async throws
    {
        let farm = try await Farm(hosts: ["here"], Farm.Options(workers: 1))
        let redis = try farm.redis.client()
        try redis.run("HSET", "{pushfarm}:farm", "shards", "64", "version", "1")
        if let format { try redis.run("HSET", "{pushfarm}:farm", "format", format) }
        try redis.run("SADD", "{pushfarm}:apps", "demo", "shop")
        try redis.run("HSET", "{pushfarm:demo}:gate", "retry", "1000")
        try redis.run("HSET", "{pushfarm:demo}:load", "open", "12")
        try redis.run("HSET", "{pushfarm:shop}:load", "open", "30")
        try farm.start("here")
        #expect(try await farm.coordinator.wait() == .exited(2))
        let status = try await farm.run("status")
        #expect(status.status == 1)
        for text in [farm.coordinator.error, status.error] {
            #expect(text.contains("42 open pushes") && text.contains("reads format 1"), "\(text)")
        }
        #expect(try redis.run("HLEN", "{pushfarm:demo}:admission").integer == 0)
    }

    /// Records the data again. This is allowed only until a release that uses this format is published.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["PUSHFARM_RECORD"] != nil))
    func `record data of this format again`() async throws {
        let farm = try await Farm(
            Farm.Options(workers: 1, faults: ["latency 1s"], appLines: ["max_rate: 40"]))
        _ = try await farm.ready()
        let tokens = Tokens.make(Self.size * Self.jobs.count)
        let parts = Self.jobs.indices.map { Array(tokens[$0 * Self.size..<($0 + 1) * Self.size]) }
        let soon = Int(Date().timeIntervalSince1970) + 60
        let fields = ["", #""lane":"bulk""#, #""deliver_at":\#(soon)"#, #""deliver_at":\#(soon)"#, ""]
        let all = Self.jobs.indices.map { Job(id: Self.jobs[$0], tokens: parts[$0], fields: fields[$0]) }
        try farm.push([all[3]])
        _ = try await farm.event("job.accepted")
        #expect(try await farm.run("pause", "held").status == 0)
        try farm.push(Array(all[...2]))
        try await farm.gateway.requests(20)
        let old = farm.coordinator
        old.destroy()
        try await eventually("no process is left") { old.descendants.isEmpty }
        try farm.push([all[4]])
        let redis = try farm.redis.client()
        var lines: [String] = []
        for key in try redis.run("KEYS", "*").array?.compactMap(\.text).sorted() ?? [] {
            guard try redis.run("TTL", key).integer == -1, let bytes = try redis.run("DUMP", key).bytes
            else { continue }
            lines.append("\(key) \(Data(bytes).base64EncodedString())")
        }
        try FileManager.default.createDirectory(
            at: Self.record.deletingLastPathComponent(), withIntermediateDirectories: true)
        try (lines.joined(separator: "\n") + "\n").write(
            to: Self.record, atomically: true, encoding: .utf8)
    }
}
