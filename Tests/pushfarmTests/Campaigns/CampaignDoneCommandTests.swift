import Campaigns
import FarmHarness
import Foundation
import Testing

/// The command `campaigns done`, on a private Redis.
@Suite(.timeLimit(.minutes(5))) struct CampaignDoneCommandTests {
    private static let list = "{pushfarm:demo}:done"
    private let folder: TestFolder
    private let redis: StoredDevices

    init() throws {
        folder = try TestFolder()
        redis = try StoredDevices([])
        for (id, state) in [("ed-1", "running"), ("draft", "draft")] {
            try redis.redis.run("HSET", "{pushfarm:demo}:campaign:\(id)", "state", state, "definition", "{}")
        }
        try redis.redis.run(
            "HSET", "{pushfarm:demo}:campaign:listed", "state", "running", "list", "v1")
    }

    private func reports() throws -> [DoneReport] {
        try (redis.redis.run("LRANGE", Self.list, "0", "-1").array ?? []).map {
            try DoneReport(try #require($0.bytes))
        }
    }

    private func file(_ text: String, _ name: String) throws -> String { try folder.write(text, to: name) }

    @Test func `ids become reports of 1,000 devices, and bad lines go to a file`() async throws {
        let ids = (0..<1_500).map { "d-\($0)" }
        let path = try file(
            ids.joined(separator: "\n") + "\n\(String(repeating: "x", count: 257))\n", "done.txt")
        let call = ["campaigns", "done", "ed-1", "--app", "demo", "--file", path]
        let dry = try await redis.run(call + ["--dry-run"])
        #expect(dry.status == 1 && dry.error.contains("line 1501: the id of a device"), "\(dry)")
        #expect(try reports().isEmpty && !FileManager.default.fileExists(atPath: path + ".refused"))
        let result = try await redis.run(call)
        #expect(
            result.status == 1
                && result.output
                    == "campaign ed-1 of demo: 1,500 devices reported as done, 1 line refused (see \(path).refused)\n",
            "\(result)")
        #expect(try reports().map(\.devices.count) == [1_000, 500])
        #expect(try reports().flatMap(\.devices) == ids)
        #expect(try reports().allSatisfy { $0.campaign == "ed-1" })
        let refused = try String(contentsOfFile: path + ".refused", encoding: .utf8)
        #expect(refused.hasPrefix("# line 1501: the id of a device has 1 to 256 bytes"))
    }

    @Test(arguments: [
        ("a.csv", "token,device\nff,d-1\nee,\"d,2\"\n"),
        ("a.ndjson", "{\"device\":\"d-1\",\"n\":1}\n\"d,2\"\n"),
    ])
    func `the id is in a column or in a field`(name: String, text: String) async throws {
        let path = try file(text, name)
        let document = try await redis.document(
            "campaigns", "done", "ed-1", "--file", path, "--id-column", "device")
        #expect(document["reported"] as? Int == 2 && document["refused"] as? Int == 0, "\(document)")
        #expect(try reports() == [DoneReport(campaign: "ed-1", devices: ["d-1", "d,2"])])
        #expect(!FileManager.default.fileExists(atPath: path + ".refused"))
    }

    @Test func `the command waits while many reports wait`() async throws {
        let path = try file("d-1\n", "done.txt")
        try redis.redis.run("RPUSH", Self.list, #"{"campaign":"ed-1","devices":["d-0"]}"#)
        let full = try await redis.run(
            "campaigns", "done", "ed-1", "--file", path, "--backlog", "1", "--timeout", "1s")
        #expect(full.status == 75 && full.error.contains("demo has 1 done reports"), "\(full)")
        #expect(try reports().count == 1)
    }

    @Test(arguments: [
        ("draft", "is draft"), ("listed", "sends to an uploaded list"), ("none", "no campaign"),
    ])
    func `a campaign without devices that can be done is refused`(id: String, reason: String) async throws {
        let path = try file("d-1\n", "done.txt")
        let result = try await redis.run("campaigns", "done", id, "--file", path)
        #expect(result.status == 1 && result.error.contains(reason), "\(result)")
        #expect(try reports().isEmpty)
    }
}
