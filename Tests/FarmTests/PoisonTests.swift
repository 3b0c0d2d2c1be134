import FarmHarness
import Foundation
import RandomTesting
import Testing

/// Pushes that crash their workers. The test kills each worker whose poison push reached the gateway.
@Suite(.startsProcesses(limit: .seconds(300))) struct PoisonTests {
    /// The first digits of tokens to which the gateway never responds.
    private static let poison = "0ff00000"
    /// Disables Swift's signal handler. With Swift's handler, a process survives a fatal signal that another process sends.
    private static let plain = ["SWIFT_BACKTRACE": "enable=no"]

    /// Kills the worker that sent a poison push, each time such a push arrives at the gateway.
    private final class WorkerKiller {
        private let farm: Farm
        private let signal: Int32
        private var seen = 0
        private(set) var ends = 0

        init(_ farm: Farm, _ signal: Int32) { (self.farm, self.signal) = (farm, signal) }

        /// Kills workers until `isOver` returns true.
        func run(until isOver: () async throws -> Bool) async throws {
            // The wait is long, because the coordinator restarts a worker without progress after a growing backoff of up to a
            // minute.
            try await eventually("the poison is found", within: .seconds(240)) {
                let lines = try farm.gateway.ledger().lines.filter {
                    $0.token?.hasPrefix(PoisonTests.poison) == true
                }
                // The farm has one worker, so this worker sent the poison push.
                if lines.count > seen, let worker = farm.workers.first {
                    seen = lines.count
                    ends += 1
                    farm.signal(worker: worker, signal)
                    try await eventually("the worker has ended") { !farm.workers.contains(worker) }
                }
                return try await isOver()
            }
        }
    }

    private func state(_ farm: Farm, _ id: String) async throws -> String? {
        try await farm.jobRecord(id)?.state
    }

    @Test(arguments: [(SIGSEGV, 3), (SIGABRT, 3), (SIGKILL, 4)])
    func `a push that crashes its worker fails as poison, and no other push fails`(signal: Int32, most: Int)
        async throws
    {
        let farm = try await Farm(
            Farm.Options(workers: 1, faults: ["latency 20ms"], environment: Self.plain))
        _ = try await farm.ready()
        let good = Tokens.make(600)
        let bad = Tokens.make(1, start: Self.poison)
        let job = Job(id: "p", tokens: good[..<300] + bad + good[300...])
        try farm.push([job])
        let reaper = WorkerKiller(farm, signal)
        try await reaper.run { try await state(farm, "p") == "finished" }
        let jobRecord = try await farm.finished("p")
        #expect(reaper.ends <= most && reaper.ends >= 3, "\(reaper.ends) ends")
        #expect(jobRecord.delivered == good.count && jobRecord.reasons == ["poison": 1])
        let failed = try farm.events("push.failed")
        #expect(failed.map { $0["token"] } == [bad[0]] && failed.first?["reason"] == "poison")
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: good) == 0)
        #expect(ledger.doubles <= jobRecord.maybeDuplicated)
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test
    func
        `a job whose pushes all crash their worker is quarantined and can be resumed, and others continue`()
        async throws
    {
        let farm = try await Farm(
            Farm.Options(workers: 1, faults: ["latency 20ms"], environment: Self.plain))
        _ = try await farm.ready()
        let bad = Tokens.make(200, start: Self.poison)
        let good = Tokens.make(200)
        try farm.push([Job(id: "bad", tokens: bad), Job(id: "good", tokens: good)])
        let reaper = WorkerKiller(farm, SIGSEGV)
        try await reaper.run { try !farm.events("job.quarantined").isEmpty }
        #expect(reaper.ends <= 20, "\(reaper.ends) ends")
        let event = try await farm.event("job.quarantined")
        #expect(event["job"] == "bad" && event["reason"] == "poison")
        let other = try await farm.finished("good")
        #expect(other.delivered == good.count)
        let parked = try await farm.run("job", "bad", "--app", "demo", "--json")
        #expect(parked.output.contains(#""paused_reason":"poison""#))
        try await eventually("the poison is quarantined") {
            let jobRecord = try await farm.jobRecord("bad")
            return jobRecord?.inFlight == 0 && jobRecord?.delayed == 0
        }
        #expect(try await farm.status().hosts.count == 1)
        #expect(try await farm.run("debug", "fsck").status == 0)

        for token in bad { try farm.gateway.control("token \(token) valid") }
        #expect(try await farm.run("resume", "--quarantined", "--job", "bad").status == 0)
        let jobRecord = try await farm.finished("bad")
        #expect(jobRecord.failed <= 5 && jobRecord.delivered == bad.count - jobRecord.failed)
        #expect(jobRecord.reasons.keys.allSatisfy { $0 == "poison" })
    }

    @Test func `forty random kills of workers fail no push and lose no push`() async throws {
        let farm = try await Farm(Farm.Options(workers: 4, faults: ["latency 20ms", "streams 100"]))
        _ = try await farm.ready()
        var random = SplitMix(seed: 40)
        let tokens = Tokens.make(40 * 600)
        var jobs: [Job] = []
        for kill in 0..<40 {
            let job = Job(id: "r\(kill)", tokens: Array(tokens[kill * 600..<(kill + 1) * 600]))
            jobs.append(job)
            try farm.push([job])
            try await farm.gateway.requests(kill * 450)
            let pid = try await eventually("a worker lives") {
                farm.workers.sorted().randomElement(using: &random)
            }
            farm.kill(worker: pid)
            try await eventually("the worker has ended") { !farm.workers.contains(pid) }
        }
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == tokens.count && totals.failed == 0 && totals.reasons.isEmpty)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0)
        #expect(ledger.doubles <= totals.maybeDuplicated)
        let host = try await farm.ready()
        #expect(host.workers.reduce(0) { $0 + $1.restarts } == 40)
        #expect(try await farm.run("debug", "fsck").status == 0)
    }
}
