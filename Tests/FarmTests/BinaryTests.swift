import FarmHarness
import Foundation
import Testing

/// The binary protocol: the gateway does not respond to accepted pushes, and it discards all pushes after a refused push.
@Suite(.startsProcesses(limit: .seconds(300))) struct BinaryTests {
    private func farm(
        workers: Int = 2, faults: [String] = ["binary delay 100ms-300ms"], lines: [String] = [],
        options: [String] = []
    ) async throws -> Farm {
        let farm = try await Farm(
            Farm.Options(
                workers: workers, faults: faults, simulatorOptions: ["--binary-port", "0"] + options,
                apps: { started, _ in [App.binary(started, more: lines)] }))
        _ = try await farm.ready()
        return farm
    }

    /// A list of valid tokens with some invalid tokens between them.
    private struct Mixture {
        let tokens: [String]
        let bad: Set<String>
        var good: [String] { tokens.filter { !bad.contains($0) } }

        init(_ count: Int, isBad: (Int) -> Bool) {
            let good = Tokens.make(count, seed: 11)
            let bad = Tokens.make(count, start: "bad00000", seed: 12)
            tokens = (0..<count).map { isBad($0) ? bad[$0] : good[$0] }
            self.bad = Set((0..<count).filter(isBad).map { bad[$0] })
        }
    }

    /// Expects that every valid token was accepted once, that every invalid token is reported, and that the job records agree.
    private func expectExactlyOnce(
        _ mixture: Mixture, _ jobs: [Job], at farm: Farm,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let totals = try await farm.finished(jobs, sourceLocation: sourceLocation)
        let ledger = try farm.gateway.binaryLedger()
        #expect(ledger.lost(of: mixture.good) == 0, sourceLocation: sourceLocation)
        #expect(ledger.doubles == 0 && totals.maybeDuplicated == 0, sourceLocation: sourceLocation)
        #expect(Set(ledger.deliveries.keys) == Set(mixture.good), sourceLocation: sourceLocation)
        #expect(totals.delivered == mixture.good.count, sourceLocation: sourceLocation)
        #expect(
            totals.reasons == (mixture.bad.isEmpty ? [:] : ["InvalidToken": mixture.bad.count]),
            sourceLocation: sourceLocation)
        let dead = try farm.events("token.invalid").compactMap { $0["token"] }
        #expect(
            Set(dead) == mixture.bad && dead.count == mixture.bad.count, sourceLocation: sourceLocation)
    }

    @Test(arguments: [2, 1])
    func `invalid tokens in a list cause no lost and no duplicate push`(command: Int)
        async throws
    {
        let farm = try await farm(lines: ["binary: { command: \(command) }"])
        let mixture = Mixture(2_500) { $0 % 100 == 50 }
        let jobs = Job.several("b", mixture.tokens, size: 500)
        try farm.push(jobs)
        try await expectExactlyOnce(mixture, jobs, at: farm)
        let ledger = try farm.gateway.binaryLedger()
        #expect(ledger.count("discarded") > 0, "the gateway discarded what came behind a bad one")
        #expect(ledger.lines.allSatisfy { $0.command == command })
        let most = try farm.gateway.binaryCounter("most_connections")
        #expect((1...64).contains(most), "\(most) connections at a time")
    }

    @Test func `an invalid token near the beginning loses no other push`() async throws {
        let farm = try await farm(workers: 1, lines: ["connections: 1"])
        let mixture = Mixture(1_000) { $0 == 19 }
        let jobs = Job.several("c", mixture.tokens, size: 1_000)
        try farm.push(jobs)
        try await expectExactlyOnce(mixture, jobs, at: farm)
        #expect(try farm.gateway.binaryLedger().count("discarded") > 0)
    }

    @Test func `a list that alternates valid and invalid tokens loses no valid push`() async throws {
        let farm = try await farm(lines: ["connections: 4"])
        let mixture = Mixture(40) { $0 % 2 == 1 }
        let jobs = Job.several("d", mixture.tokens, size: 5)
        try farm.push(jobs)
        try await expectExactlyOnce(mixture, jobs, at: farm)
    }

    @Test
    func
        `connections that close without a reason lose no push and duplicate only unknown outcomes`()
        async throws
    {
        let farm = try await farm(
            workers: 1, faults: ["binary close 1100 delay=50ms"], lines: ["connections: 1"])
        let mixture = Mixture(2_500) { _ in false }
        let jobs = Job.several("f", mixture.tokens, size: 500)
        try farm.push(jobs)
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == 2_500 && totals.failed == 0)
        let ledger = try farm.gateway.binaryLedger()
        #expect(ledger.lost(of: mixture.tokens) == 0)
        #expect(ledger.doubles > 0, "it was closed while pushes were in doubt")
        #expect(ledger.doubles <= totals.maybeDuplicated)
        #expect(Set(ledger.lines.map(\.connection)).count >= 3)
    }

    @Test func `incomplete replies lose no push, and the pushes are sent again`() async throws {
        let farm = try await farm(
            workers: 1,
            faults: ["binary delay 50ms-100ms", "binary cut 100%", "binary trickle 100%"])
        let mixture = Mixture(500) { $0 % 100 == 50 }
        let jobs = Job.several("r", mixture.tokens, size: 100)
        try farm.push(jobs)
        try await eventually("a reply breaks off") { try farm.gateway.binaryCounter("cut_replies") > 0 }
        // From now on replies arrive byte by byte, but they are complete.
        try farm.gateway.control("binary cut off")
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == mixture.good.count)
        #expect(totals.reasons == ["InvalidToken": mixture.bad.count])
        let ledger = try farm.gateway.binaryLedger()
        #expect(ledger.lost(of: mixture.good) == 0)
        #expect(totals.maybeDuplicated > 0, "a reply that breaks off is a close without one")
        #expect(ledger.doubles <= totals.maybeDuplicated)
    }

    @Test func `a reply that names the last accepted push loses and duplicates no push`()
        async throws
    {
        let farm = try await farm(workers: 1, faults: ["binary shutdown 400"], lines: ["connections: 2"])
        let mixture = Mixture(2_000) { _ in false }
        let jobs = Job.several("s", mixture.tokens, size: 500)
        try farm.push(jobs)
        try await expectExactlyOnce(mixture, jobs, at: farm)
        #expect(try farm.gateway.binaryLedger().count("discarded") > 0)
    }

    /// A reply may arrive while the worker still writes the push to which the reply refers.
    @Test(arguments: ["1.2", "1.3"], ["binary shutdown 300", "binary refuse 0.3%"])
    func `a gateway that replies at once causes no duplicate`(version: String, fault: String) async throws {
        // The quiet time is longer than the gateway may wait for a core on a busy machine.
        let farm = try await farm(
            workers: 1, faults: [fault, "binary delay off", "binary linger off"],
            lines: ["binary: { quiet_time: 6 }"], options: ["--newest-tls", version])
        let tokens = Tokens.make(9_000, seed: 17)
        let jobs = Job.several("at-once", tokens, size: 1_000)
        try farm.push(jobs)
        // The gateway refuses a different push each time, so no push reaches its maximum of attempts.
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == 9_000 && totals.maybeDuplicated == 0)
        let ledger = try farm.gateway.binaryLedger()
        #expect(ledger.lost(of: tokens) == 0 && ledger.doubles == 0)
        #expect(try farm.gateway.binaryCounter("replies") >= 20)
        #expect(!farm.coordinator.error.contains("about no push of ours"))
    }

    @Test(arguments: ["high", "bulk"])
    func `a backlog with slow replies opens all connections`(lane: String) async throws {
        let farm = try await farm(
            faults: ["binary delay 4s-5s"], lines: ["connections: 6", "binary: { quiet_time: 6 }"])
        let mixture = Mixture(6_000) { $0 % 20 == 10 }
        let jobs = Job.several("slow", mixture.tokens, size: 500, fields: #""lane":"\#(lane)""#)
        try farm.push(jobs)
        try await eventually("all connections of both workers are open", within: .seconds(120)) {
            try farm.gateway.binaryCounter("most_connections") >= 12
        }
        try farm.gateway.control("binary delay 10ms-20ms")
        try await expectExactlyOnce(mixture, jobs, at: farm)
        #expect(try farm.gateway.binaryCounter("most_connections") <= Self.mostSeen(of: 12))
    }

    @Test func `slow dials run at the same time`() async throws {
        let farm = try await farm(
            workers: 1, faults: ["binary accept 3s", "binary delay 50ms-100ms"],
            lines: ["connections: 12"])
        let mixture = Mixture(3_000) { $0 % 20 == 10 }
        let jobs = Job.several("far", mixture.tokens, size: 500)
        try farm.push(jobs)
        try await eventually("all connections are dialled at a time", within: .seconds(120)) {
            try farm.gateway.binaryCounter("most_accepting") == 12
        }
        try farm.gateway.control("binary accept off")
        try await expectExactlyOnce(mixture, jobs, at: farm)
        #expect(try farm.gateway.binaryCounter("most_connections") <= Self.mostSeen(of: 12))
    }

    /// The most connections that the gateway may see at once. A worker dials a replacement for a connection, and closes the
    /// replacement unused if the old connection still works. So each allowed connection may have one replacement open at the same
    /// time.
    private static func mostSeen(of allowed: Int) -> Int { 2 * allowed }

    @Test func `max_dials limits the dials in a minute, even with many invalid tokens`() async throws {
        let farm = try await farm(
            workers: 1, faults: ["binary delay 10ms-20ms"],
            lines: ["connections: 4", "binary: { max_dials: 7 }"])
        let mixture = Mixture(400) { $0 % 8 == 4 }
        let start = ContinuousClock.now
        try farm.push(Job.several("gentle", mixture.tokens, size: 100))
        // Fifty invalid tokens need fifty connections. With a limit of seven, the eighth connection is dialled a
        // minute after the first connection.
        try await eventually("the eighth connection is dialled", within: .seconds(180)) {
            try farm.gateway.binaryCounter("connections") >= 8
        }
        #expect(ContinuousClock.now - start >= .seconds(60))
    }

    @Test func `an event reports a reply that is later than all earlier replies`() async throws {
        let farm = try await farm(
            workers: 1, faults: ["binary delay 2500ms-2600ms"], lines: ["connections: 1"])
        let mixture = Mixture(200) { $0 == 19 }
        let jobs = Job.several("late", mixture.tokens, size: 200)
        try farm.push(jobs)
        #expect(try await farm.finished(jobs).delivered == 200, "no sender could know better")
        let event = try await farm.event("gateway.delivered_lost")
        #expect(event["reason"] == "InvalidToken")
        let lost = try farm.gateway.binaryLedger().lost(of: mixture.good)
        #expect(lost > 0)
        // The event counts the lost pushes and the push to the invalid token; the job record counts all of them as delivered.
        #expect(event["pushes"] == "\(lost + 1)")
    }

    @Test func `invalid tokens in the bulk lane do not delay high pushes`() async throws {
        // The rate is so low that most bulk pushes are unsent when the high pushes arrive.
        let farm = try await farm(lines: ["max_rate: 5000"])
        let campaign = Mixture(20_000) { $0 % 50 == 25 }
        let bulk = Job.several("bulk", campaign.tokens, size: 1_000, fields: #""lane":"bulk""#)
        try farm.push(bulk)
        try await eventually("several connections have met a bad token", within: .seconds(120)) {
            try farm.gateway.binaryCounter("refused") >= 50
        }
        let tokens = Tokens.make(60, seed: 13)
        let messages = Job.several("message", tokens, size: 1, fields: #""lane":"high""#)
        try farm.push(messages)
        let totals = try await farm.finished(messages)
        #expect(totals.delivered == 60 && totals.maybeDuplicated == 0)
        let ledger = try farm.gateway.binaryLedger()
        let frames = ledger.lines.filter { $0.token.map { tokens.contains($0) } ?? false }
        #expect(frames.count == 60 && frames.allSatisfy { $0.outcome == "accepted" })
        #expect(ledger.count("discarded") > 0)
        _ = try await farm.finished(bulk)
    }

    @Test func `a worker that is killed while outcomes are unknown loses no push`() async throws {
        // The quiet time is long, so the test can kill the worker before the worker knows the outcomes.
        let farm = try await farm(lines: ["binary: { quiet_time: 6 }"])
        let before = farm.workers
        let mixture = Mixture(1_000) { $0 % 100 == 50 }
        let jobs = Job.several("k", mixture.tokens, size: 100)
        try farm.push(jobs)
        try await farm.gateway.requests(200)
        farm.kill(worker: before[0])
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == mixture.good.count && totals.reasons == ["InvalidToken": 10])
        let ledger = try farm.gateway.binaryLedger()
        #expect(ledger.lost(of: mixture.good) == 0)
        #expect(totals.maybeDuplicated > 0 && ledger.doubles <= totals.maybeDuplicated)
    }

    @Test(arguments: [false, true])
    func `a coordinator that ends leaves no outcome unknown`(endsWithSentinel: Bool) async throws {
        // With a sentinel, the test needs unknown outcomes when the coordinator ends, even on a slow machine. So the quiet time
        // is longer.
        let quiet = endsWithSentinel ? 5 : 1
        let farm = try await farm(
            lines: ["binary: { sentinel: \(endsWithSentinel), quiet_time: \(quiet) }"])
        let mixture = Mixture(20_000) { $0 % 1_000 == 500 }
        let jobs = Job.several("t", mixture.tokens, size: 500)
        try farm.push(jobs)
        try await farm.gateway.requests(500)
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))
        #expect(!farm.coordinator.error.contains("killed(signal"), "a worker crashed at its end")
        let sentinels = try farm.gateway.binaryLedger().lines.count { $0.token == "00" }
        #expect((sentinels > 0) == endsWithSentinel, "\(sentinels) sentinels")
        try farm.restartCoordinator()
        try await expectExactlyOnce(mixture, jobs, at: farm)
    }
}
