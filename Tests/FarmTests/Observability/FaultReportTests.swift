import FarmHarness
import Foundation
import RedisProtocol
import Testing

/// `status`, alerts, `doctor` and `fsck` show faults that stop an app.
@Suite(.startsProcesses(limit: .seconds(240))) struct FaultReportTests {
    private static let app = "{pushfarm:demo}:"

    @Test(arguments: ["events", "intake", "batches", "states", "results", "load", "admission", "owners"])
    func `status, an alert and fsck name a key of the wrong type`(name: String) async throws {
        let farm = try await Farm(Farm.Options(workers: 1))
        _ = try await farm.ready()
        #expect(try await farm.run("status").status == 0)
        let redis = try farm.redis.client()
        let key = Self.app + name
        let before = try redis.run("DUMP", key).bytes
        try redis.run("SET", key, "x")
        try await eventually("the alert fires") {
            try redis.run("HKEYS", "{pushfarm}:active_alerts").array?.contains {
                $0.text == "key_type app demo "
            } == true
        }
        let status = try await farm.run("status")
        #expect(status.status == 1, "\(status)")
        #expect(
            status.output.contains("! demo stands still: the Redis key \(key) is a string"), "\(status)")
        let json = try await farm.run("status", "--json")
        #expect(json.status == 1 && json.output.contains(#""key":"\#(key)""#), "\(json)")
        let fsck = try await farm.run("debug", "fsck")
        #expect(fsck.status == 1 && fsck.output.contains("key \(key) is a string"), "\(fsck)")
        #expect(try await farm.run("doctor").output.contains(key))
        try redis.run("DEL", key)
        if let before {
            var command = RESPCommand("RESTORE", key, "0")
            command.append(before)
            command.append("REPLACE")
            try redis.run(command)
        }
        try await eventually("the alert clears") {
            try redis.run("HKEYS", "{pushfarm}:active_alerts").array?.contains {
                $0.text == "key_type app demo "
            } == false
        }
    }

    /// After a response with an empty reason, the push fails with the HTTP status as its reason, and the batch's other pushes are
    /// settled.
    @Test func `an empty reason does not block its batch from being settled`() async throws {
        let farm = try await Farm(Farm.Options(faults: ["answer 400 reason= share=10%"]))
        try farm.push([Job(id: "odd", tokens: Tokens.make(2_100))])
        let jobRecord = try await farm.finished("odd")
        #expect(jobRecord.delivered + jobRecord.failed == 2_100 && jobRecord.failed > 0)
        #expect(jobRecord.reasons == ["HTTP400": jobRecord.failed])
        let fsck = try await farm.run("debug", "fsck")
        #expect(fsck.status == 0 && fsck.output == "demo: the accounting is exact\n", "\(fsck)")
        #expect(try await farm.run("dead", "list").output.contains("HTTP400"))
    }

    @Test func `status shows unsettled entries until they are repaired, also after a restart`() async throws {
        let farm = try await Farm(Farm.Options(workers: 1))
        _ = try await farm.ready()
        let redis = try farm.redis.client()
        let id = try #require(try redis.run("XADD", Self.app + "results", "*", "r", "nonsense").text)
        func expectSeen() async throws {
            try await eventually("the alert fires") {
                try redis.run("HKEYS", "{pushfarm}:active_alerts").array?.contains {
                    $0.text == "unreadable app demo "
                } == true
            }
            let status = try await farm.run("status")
            #expect(status.status == 1 && status.output.contains("a results entry cannot be settled"))
            let fsck = try await farm.run("debug", "fsck")
            #expect(fsck.status == 1 && fsck.output.contains("results entry \(id) cannot be settled"))
        }
        try await expectSeen()
        farm.coordinator.signal(SIGTERM)
        _ = try await farm.coordinator.wait(within: .seconds(30))
        try farm.restartCoordinator()
        _ = try await farm.ready()
        try await expectSeen()
        let repair = try await farm.run("debug", "fsck", "--repair", "--app", "all")
        #expect(repair.status == 0 && repair.output.contains("the originals are kept"), "\(repair)")
        let kept = try await farm.run("status")
        #expect(kept.status == 1 && kept.output.contains("1 item could not be read and is kept (\(id))"))
        #expect(try await farm.run("debug", "fsck", "--drop-unreadable", "--app", "all").status == 0)
        try await eventually("the alert clears") {
            try redis.run("HLEN", "{pushfarm}:active_alerts").integer == 0
        }
        #expect(try await farm.run("status").status == 0)
    }
}
