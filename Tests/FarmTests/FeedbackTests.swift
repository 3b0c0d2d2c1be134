import FarmHarness
import Foundation
import Testing

/// Apps with a binary gateway and the simulator's feedback service.
@Suite(.startsProcesses) struct FeedbackTests {
    private static func farm(_ faults: [String] = [], interval: Int = 3600) async throws -> Farm {
        var options = Farm.Options()
        options.faults = faults
        options.simulatorOptions = ["--binary-port", "0", "--feedback-port", "0"]
        options.apps = { started, _ in
            [
                App.binary(
                    started, more: ["feedback: \(started.feedback ?? "")", "feedback_interval: \(interval)"])
            ]
        }
        let farm = try await Farm(options)
        // The test waits for the first reading, which would otherwise take some of the test's tuples.
        try await eventually("the first reading is over") {
            try farm.redis.client().run("HEXISTS", "{pushfarm:demo}:feedback", "ended_at").integer == 1
        }
        #expect(!farm.coordinator.error.contains("reading of the feedback service failed"))
        return farm
    }

    /// The number of tuples in the simulator's list.
    private static func waiting(_ farm: Farm) throws -> Int {
        let text = try farm.gateway.control("counters")
        let all = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        return (all?["feedback"] as? [String: Any])?["waiting"] as? Int ?? -1
    }

    @Test func `doctor reads the feedback service once, and loses no tuple`()
        async throws
    {
        let farm = try await Self.farm()
        _ = try await farm.ready()
        let token = Tokens.make(1, seed: 77)[0]
        try farm.gateway.control("feedback add \(token) 1700000000")
        let doctor = try await farm.run("doctor", "--json")
        #expect(doctor.status == 0 && doctor.output.contains("1 invalid tokens read"), "\(doctor)")
        #expect(try farm.events("token.invalid").contains { $0["token"] == token })
        #expect(try Self.waiting(farm) == 0)
        // Without a coordinator, `doctor` does not read the feedback service, so the service keeps its tuples.
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))
        try farm.gateway.control("feedback add \(token) 1700000001")
        let second = try await farm.run("doctor", "--json")
        #expect(second.status == 0 && second.output.contains("no coordinator has read it"), "\(second)")
        #expect(try Self.waiting(farm) == 1)
    }

    @Test func `doctor warns of a binary gateway without a feedback service`() async throws {
        var options = Farm.Options()
        options.simulatorOptions = ["--binary-port", "0"]
        options.apps = { started, _ in [App.binary(started)] }
        let farm = try await Farm(options)
        let doctor = try await farm.run("doctor", "--json")
        #expect(doctor.status == 0 && doctor.output.contains("no feedback service"), "\(doctor)")
    }

    @Test func `tokens of the feedback service are suppressed unless they were registered later`()
        async throws
    {
        let farm = try await Self.farm()
        _ = try await farm.ready()
        let tokens = Tokens.make(4)
        for token in tokens[..<3] { try farm.gateway.control("feedback add \(token) 1700000000") }
        let read = try await farm.run("debug", "feedback", "demo", "--json")
        #expect(read.status == 0 && read.output.contains(#""tokens":3"#), "\(read)")
        let dead = try farm.events("token.invalid").map { $0.without("at") }
        #expect(
            Set(dead)
                == Set(
                    tokens[..<3].map {
                        [
                            "type": "token.invalid", "token": $0, "reason": "Feedback",
                            "timestamp": "1700000000000",
                        ]
                    }))
        try farm.push([
            Job(id: "plain", tokens: tokens),
            Job(id: "since", tokens: tokens, fields: #""registered_at":1700000001"#),
        ])
        let plain = try await farm.finished("plain")
        #expect(plain.reasons == ["suppressed": 3] && plain.delivered == 1)
        #expect(try await farm.finished("since").delivered == 4)
    }

    @Test func `the backoff before the next reading grows after each failure`() async throws {
        var options = Farm.Options()
        options.simulatorOptions = ["--binary-port", "0"]
        // No service listens at the app's feedback address.
        options.apps = { started, _ in
            [App.binary(started, more: ["feedback: tls://127.0.0.1:1", "feedback_interval: 3600"])]
        }
        let farm = try await Farm(options)
        let key = "{pushfarm:demo}:feedback"
        let client = try farm.redis.client()
        func fields() throws -> [String: Int] {
            try client.run("HGETALL", key).fields.compactMapValues { Int($0) }
        }
        /// Waits for a failed reading and returns its backoff.
        /// - Parameter failures: the number of earlier failures.
        func pause(after failures: Int) async throws -> Int {
            try await eventually("failure \(failures + 1) is noted") {
                let now = try fields()
                guard now["failures"] == failures + 1, let due = now["due"], let end = now["ended_at"]
                else {
                    return nil
                }
                return due - end
            }
        }
        let first = try await pause(after: 0)
        #expect((2_500...5_000).contains(first))
        for (failures, range) in [(1, 5_000...10_000), (4, 40_000...80_000), (20, 300_000...600_000)] {
            // The test moves the next reading to an hour from now, and waits until no reading is active.
            try await eventually("the reader rests") {
                let late = Int(Date().timeIntervalSince1970) * 1000 + 3_600_000
                try client.run("HSET", key, "due", "\(late)")
                return try client.run("HGETALL", key).fields["reader"] == nil && fields()["due"] == late
            }
            try client.run("HSET", key, "failures", "\(failures)", "due", "0")
            try client.run("PUBLISH", "{pushfarm}:coordinators", "feedback demo")
            let next = try await pause(after: failures)
            #expect(range.contains(next), "after \(failures): \(next)")
        }
    }

    @Test func `a hundred thousand tuples are all stored, and each is reported once`() async throws {
        let farm = try await Self.farm()
        _ = try await farm.ready()
        try farm.gateway.control("feedback fill 100000")
        let read = try await farm.run("debug", "feedback", "all", "--json")
        #expect(read.status == 0 && read.output.contains(#""tokens":100000"#), "\(read)")
        #expect(try Self.waiting(farm) == 0)
        let file = farm.folder.path + "/dead.txt"
        #expect(try await farm.run("suppressed", "export", "--file", file).status == 0)
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(Set(lines).count == 100_000 && lines.allSatisfy { $0.contains(" Feedback ") })
        let eventCount = try farm.redis.client().run("XLEN", "{pushfarm:demo}:events").integer
        #expect(eventCount == 100_000)
    }

    @Test func `repeated tuples are reported again but not stored again`() async throws {
        let farm = try await Self.farm()
        _ = try await farm.ready()
        let tokens = Tokens.make(600)
        func addTuples(_ time: Int) async throws -> Int {
            for token in tokens { try farm.gateway.control("feedback add \(token) \(time)") }
            #expect(try await farm.run("debug", "feedback", "all").status == 0)
            return try farm.suppressionRecords()
        }
        #expect(try await addTuples(1_700_000_000) == 600)
        #expect(try await addTuples(1_700_000_000) == 600)
        #expect(try farm.events("token.invalid").count == 1200)
        #expect(try await addTuples(1_700_000_001) == 1200, "a later unregistration is new")
    }

    @Test func `a tuple's time in the future counts as now, and a registration ends its suppression`()
        async throws
    {
        let farm = try await Self.farm()
        _ = try await farm.ready()
        let token = Tokens.make(1)[0]
        try farm.gateway.control("feedback add \(token) 4102444800")
        #expect(try await farm.run("debug", "feedback", "all").status == 0)
        let later = Int(Date().timeIntervalSince1970) + 60
        try farm.push([
            Job(id: "plain", tokens: [token]),
            Job(id: "since", tokens: [token], fields: #""registered_at":\#(later)"#),
        ])
        #expect(try await farm.finished("plain").reasons == ["suppressed": 1])
        #expect(try await farm.finished("since").delivered == 1)
    }

    @Test func `a slow feedback service loses no tuple`() async throws {
        let farm = try await Self.farm()
        _ = try await farm.ready()
        try farm.gateway.control("feedback think 7s")
        try farm.gateway.control("feedback fill 10")
        let read = try await farm.run("debug", "feedback", "all", "--json")
        #expect(read.status == 0 && read.output.contains(#""tokens":10"#), "\(read)")
    }

    @Test func `the coordinator reads the service on schedule and closes a silent connection`() async throws {
        let farm = try await Self.farm(interval: 1)
        _ = try await farm.ready()
        try farm.gateway.control("feedback stay on")
        let tokens = Tokens.make(2)
        for (number, token) in tokens.enumerated() {
            try farm.gateway.control("feedback add \(token) 1700000000")
            #expect(try await farm.event("token.invalid", number: number + 1)["token"] == token)
        }
    }

    @Test func `an interrupted reading keeps its tuples, is reported, and is repeated`() async throws {
        let farm = try await Self.farm(["feedback cut 300"])
        _ = try await farm.ready()
        try farm.gateway.control("feedback fill 1000")
        let read = try await farm.run("debug", "feedback", "all", "--json")
        #expect(read.status == 75 && read.output.contains(#""tokens":300"#), "\(read)")
        #expect(read.output.contains("within a tuple"))
        try farm.gateway.control("calm")
        // The interruption cuts one tuple, which is lost. So 999 of the 1,000 tuples arrive.
        try await eventually("the rest is read") { try Self.waiting(farm) == 0 }
        try await eventually("the rest is kept") { try farm.events("token.invalid").count == 999 }
    }

    @Test func `an outage of Redis loses no tuple that the coordinator has read`() async throws {
        let farm = try await Self.farm()
        _ = try await farm.ready()
        try farm.gateway.control("feedback fill 50000")
        let reading = try Child(
            "feedback", BuiltProgram.path,
            ["debug", "feedback", "all", "--config", farm.folder.path + "/pushfarm.yaml"],
            in: farm.folder.path)
        try await eventually("some of it is kept") { try farm.events("token.invalid").count > 1000 }
        try await farm.redis.crash()
        _ = try await reading.wait()
        try await eventually("all of it is kept") {
            try farm.redis.client().run("XLEN", "{pushfarm:demo}:events").integer == 50_000
        }
    }
}
