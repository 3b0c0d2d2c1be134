import FarmHarness
import Foundation
import RedisProtocol
import Testing

/// Back pressure when producers push more jobs than the farm accepts.
@Suite(.startsProcesses) struct AdmissionTests {
    /// A job with large payloads.
    private static func largeJob(_ number: Int) -> (id: String, tokens: [String], text: String) {
        let tokens = Tokens.make(20, seed: UInt64(1000 + number))
        let payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: 3500))"}}"#
        let pushes = tokens.map { #"{"token":"\#($0)","payload":\#(payload)}"# }.joined(separator: ",")
        return ("heavy-\(number)", tokens, #"{"id":"heavy-\#(number)","pushes":[\#(pushes)]}"#)
    }

    /// All jobs that Redis accepted, including jobs whose reply told the producer to wait.
    private struct Accepted {
        var ids: [String] = []
        var tokens: [String] = []
        var number = 0

        mutating func push(
            _ client: BlockingRedisClient, _ command: (_ id: String, _ job: String) -> [String]
        ) throws -> RESPValue {
            let job = largeJob(number)
            let reply = try client.run(command(job.id, job.text))
            guard reply.integer != nil || reply.array?.first?.text == "OK" else { return reply }
            number += 1
            ids.append(job.id)
            tokens += job.tokens
            return reply
        }
    }

    private static func submit(_ id: String, _ job: String) -> [String] {
        ["FCALL", "pushfarm_submit", "1", "pushfarm:demo", job, id]
    }

    /// Runs `body`. Returns nil if Redis is out of memory.
    private static func unlessOutOfMemory<Value>(_ body: () throws -> Value) throws -> Value? {
        do {
            return try body()
        } catch let error as RESPServerError where error.code == "OOM" {
            return nil
        }
    }

    @Test func `at maxmemory producers are refused, and every accepted push is delivered`() async throws {
        // The gateway is so slow that Redis stays full during the test: the pushes that it accepts in a minute free less memory
        // than lies between the soft mark and the hard mark.
        let farm = try await Farm(
            Farm.Options(
                faults: ["latency 1s", "streams 2"],
                appLines: ["max_inbox_bytes: 1000000000", "max_conns: 1"]))
        _ = try await farm.ready()
        let client = try farm.redis.client()
        let used = try #require(
            try client.run("INFO", "memory").text?.split(separator: "\r\n")
                .first { $0.hasPrefix("used_memory:") }?.split(separator: ":").last.flatMap { Int($0) })
        try client.run("CONFIG", "SET", "maxmemory", "\(used + 12_000_000)")

        // At the soft mark `pushfarm_submit` tells producers to wait.
        var accepted = Accepted()
        let busy = try await eventually("producers are told to wait") {
            // Redis may run out of memory before the coordinator's next check. Then Redis replies with an error, and the test
            // tries again.
            let reply = try Self.unlessOutOfMemory { try accepted.push(client, Self.submit) }?.array
            return reply?.first?.text == "BUSY" ? reply : nil
        }
        #expect(busy[2].text == "memory")
        #expect((1000..<2000).contains(try #require(busy[1].integer)))
        #expect(try farm.events("admission.closed").map { $0["reason"] } == ["memory"])
        let status = try await farm.run("status", "--json")
        #expect(status.status == 1)
        #expect(try Status(json: status.output).apps.first?.fullReason == "memory")
        let push = try await farm.run(
            "push", "--app", "demo", "--token", Tokens.make(1)[0], "--alert", "Hi", "--timeout", "0")
        #expect(push.status == 75 && push.error.contains("full"), "\(push)")

        // At the hard mark even RPUSH is refused.
        try await eventually("Redis is full") {
            try Self.unlessOutOfMemory {
                while true { _ = try accepted.push(client) { ["RPUSH", "pushfarm:demo", $1] } }
            } == nil
        }
        let refused = try Self.unlessOutOfMemory { try accepted.push(client, Self.submit) }
        #expect(refused == nil || refused?.array?.first?.text == "BUSY")

        // A coordinator must be able to start while Redis is full.
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))
        try farm.restartCoordinator()

        // The farm sends its backlog although producers use every free byte at once.
        let before = try farm.gateway.counter("requests")
        try farm.gateway.control("latency off")
        try farm.gateway.control("streams 1000")
        let end = accepted.number + 100
        try await eventually("a hundred jobs more find room") {
            _ = try Self.unlessOutOfMemory {
                while accepted.number < end {
                    _ = try accepted.push(client) { ["RPUSH", "pushfarm:demo", $1] }
                }
            }
            return accepted.number >= end
        }
        #expect(try farm.gateway.counter("requests") > before)

        var maybe = 0
        for id in accepted.ids {
            let jobRecord = try await eventually("job \(id) is finished") {
                let fields = try client.run("HGETALL", "{pushfarm:demo}:job:\(id)").fields
                return fields["state"] == "finished" ? fields : nil
            }
            #expect(jobRecord["delivered"] == "20")
            maybe += jobRecord["maybe_duplicated"].flatMap { Int($0) } ?? 0
        }
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: accepted.tokens) == 0 && ledger.doubles <= maybe)
        #expect(try client.run("HGET", "{pushfarm:demo}:load", "open").text == "0")

        try await eventually("producers may push again") {
            try client.run("HGET", "{pushfarm:demo}:admission", "full").isNull
        }
        #expect(try accepted.push(client, Self.submit).array?.first?.text == "OK")
        // The events "admission closed" and "admission opened" alternate, so none of them is reported twice.
        let types = try farm.events().compactMap { $0["type"] }.filter { $0.hasPrefix("admission.") }
        #expect(types.count.isMultiple(of: 2))
        for (index, type) in types.enumerated() {
            #expect(type == (index.isMultiple(of: 2) ? "admission.closed" : "admission.opened"))
        }
        // The coordinator logs a problem once, when the problem begins, not at every attempt.
        #expect(farm.coordinator.error.split(separator: "\n").count < 60, "\(farm.coordinator.error)")
        for trouble in Farm.leaseTroubles { #expect(!farm.coordinator.error.contains(trouble)) }
    }

    @Test func `a greedy app waits at its own limit, and another app is not affected`() async throws {
        let farm = try await Farm(
            Farm.Options(
                faults: ["latency 1s", "streams 2"],
                apps: { started, _ in
                    [
                        // The gateway is so slow that the backlog stays full until the test checks it.
                        App(started, more: ["max_backlog: 500", "max_inbox: 20", "max_conns: 1"]),
                        App(started, name: "quiet"),
                    ]
                }))
        _ = try await farm.ready()
        let client = try farm.redis.client()
        let tokens = Tokens.make(600)
        // The test uses one job.
        // With several jobs a fast farm could fill its backlog with the first jobs and leave the last job in the inbox.
        let first = [Job(id: "g", tokens: tokens)]
        try farm.push(first)
        try await eventually("the first job is taken in") {
            try client.run("HGET", "{pushfarm:demo}:load", "open").text.flatMap { Int($0) } ?? 0 >= 500
        }
        // The backlog is full, so the next jobs stay in the inbox, and `pushfarm_submit` gives the reason.
        let more = Tokens.make(200, seed: 7)
        let second = Job.several("h", more, size: 10)
        let reply = try client.run(Self.submit("x", second[0].text)).array
        #expect(reply?.first?.text == "BUSY" && reply?.last?.text == "backlog")
        try farm.push(second)
        let event = try await farm.event("admission.closed")
        #expect(event["reason"] == "backlog")
        #expect(try client.run("LLEN", "pushfarm:demo").integer == 20)
        #expect(try await farm.status().apps.map(\.fullReason) == ["backlog", nil])

        let quiet = Job(id: "q", tokens: Tokens.make(5, seed: 8))
        let welcome = try client.run(
            "FCALL", "pushfarm_submit", "1", "pushfarm:quiet", quiet.text, quiet.id)
        #expect(welcome.array?.first?.text == "OK")
        #expect(try await farm.finished("q", app: "quiet").delivered == 5)
        #expect(try farm.events(app: "quiet").allSatisfy { $0["type"]?.hasPrefix("admission.") != true })

        try farm.gateway.control("latency off")
        try farm.gateway.control("streams 1000")
        let totals = try await farm.finished(first + second)
        #expect(totals.delivered == 800)
        #expect(try farm.gateway.ledger().lost(of: tokens + more + quiet.tokens) == 0)
        _ = try await farm.event("admission.opened")
    }

    @Test func `a reload changes the limit at which producers must wait`() async throws {
        let farm = try await Farm(
            Farm.Options(faults: ["silence 1"], appLines: ["request_timeout: 300", "max_backlog: 20"]))
        _ = try await farm.ready()
        let client = try farm.redis.client()
        try farm.push([Job(id: "open", tokens: Tokens.make(50))])
        let event = try await farm.event("admission.closed")
        #expect(event["reason"] == "backlog")
        let more = Job(id: "more", tokens: Tokens.make(5, seed: 7))
        #expect(try client.run(Self.submit("more", more.text)).array?.first?.text == "BUSY")
        let file = farm.folder.path + "/pushfarm.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try farm.folder.write(
            text.replacing("max_backlog: 20", with: "max_backlog: 2000"), to: "pushfarm.yaml")
        let reload = try await farm.run("reload", "all")
        #expect(reload.status == 0, "\(reload)")
        // No push was delivered since the last check, so admission opened only because of the new limit.
        _ = try await farm.event("admission.opened")
        #expect(try client.run(Self.submit("more", more.text)).array?.first?.text == "OK")
    }
}
