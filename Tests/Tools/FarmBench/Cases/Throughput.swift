import BenchKit
import FarmHarness

/// Measures how fast the farm delivers a number of pushes. h2load runs before or after the farm at the same simulator.
struct Throughput: BenchCase {
    let key: String
    let title: String
    let measures: [Measure]
    let isRehearsed = true
    var workers = 2
    let pushes: Int
    let jobSize: Int
    var kind = PreparedJobs.Kind.samePayload

    private static let requests = 400_000

    static let worker = Throughput(
        key: "worker", title: "300,000 pushes in jobs of 1,000, one worker",
        measures: [
            Measure("worker, CPU a push", "µs", "worker", beside: "h2load", bar: .atMost(1)),
            Measure("Redis, CPU a push", "µs", "redis", beside: "worker", of: "worker", bar: .atMost(0.25)),
            Measure("coordinator and intake, CPU a push", "µs", "feeding", beside: "worker", of: "worker"),
            Measure("simulator, CPU a push", "µs", "gateway", beside: "h2load's gateway"),
            Measure("pushes a second", "/s", "rate", beside: "h2load's rate"),
        ], workers: 1, pushes: 300_000, jobSize: 1_000)

    static let farm = Throughput(
        key: "farm", title: "1,000,000 pushes in jobs of 1,000, two workers, RPUSH to last settle",
        measures: [
            Measure("pushes a second", "/s", "rate", beside: "h2load's rate", bar: .atLeast(0.6)),
            Measure("worker, CPU a push", "µs", "worker", beside: "h2load"),
            Measure(
                "coordinator and intake, CPU a push", "µs", "feeding", beside: "worker", of: "worker",
                bar: .atMost(1.0 / 3)),
            Measure("Redis, CPU a push", "µs", "redis", beside: "worker", of: "worker", bar: .atMost(0.25)),
            Measure("simulator, CPU a push", "µs", "gateway", beside: "h2load's gateway"),
        ], pushes: 1_000_000, jobSize: 1_000)

    static let singles = Throughput(
        key: "singles", title: "200,000 jobs of one token, RPUSHed in pipelines",
        measures: details(bar: 0.2), pushes: 200_000, jobSize: 1)

    static let payloads = Throughput(
        key: "payloads", title: "300,000 pushes with a payload each, in jobs of 1,000",
        measures: details(bar: 0.45), pushes: 300_000, jobSize: 1_000, kind: .payloadEach)

    static let values = Throughput(
        key: "values", title: "300,000 pushes with values for one payload, in jobs of 1,000",
        measures: details(bar: 0.45), pushes: 300_000, jobSize: 1_000, kind: .values)

    private static func details(bar: Double) -> [Measure] {
        [
            Measure("pushes a second", "/s", "rate", beside: "h2load's rate", bar: .atLeast(bar)),
            Measure("worker, CPU a push", "µs", "worker", beside: "h2load"),
            Measure("coordinator, CPU a push", "µs", "coordinator", beside: "worker", of: "worker"),
            Measure("intake, CPU a push", "µs", "intake", beside: "worker", of: "worker"),
            Measure("Redis, CPU a push", "µs", "redis", beside: "worker", of: "worker"),
            Measure("simulator, CPU a push", "µs", "gateway", beside: "h2load's gateway"),
        ]
    }

    func round(_ number: Int, _ plan: BenchPlan, _ cores: Cores) async throws -> Round {
        let folder = try TestFolder()
        let gateway = try await Gateway(
            in: folder.path,
            options: ["--no-first-stream-limit"] + (plan.isRehearsal ? ["--count-distinct"] : []),
            hasLedger: false)
        var round = Round()
        if number.isMultiple(of: 2) {
            try await measureTool(gateway, folder.path, plan, cores, into: &round)
            try await measureFarm(number, gateway, folder.path, plan, cores, into: &round)
        } else {
            try await measureFarm(number, gateway, folder.path, plan, cores, into: &round)
            try await measureTool(gateway, folder.path, plan, cores, into: &round)
        }
        return round
    }

    private func measureTool(
        _ gateway: Gateway, _ folder: String, _ plan: BenchPlan, _ cores: Cores, into round: inout Round
    ) async throws {
        // A rehearsal only counts the tokens of the farm's pushes, and does not run h2load.
        guard !plan.isRehearsal else { return }
        let requests = plan.pushes(Self.requests)
        let tool = try await LoadTool(gateway, cores, in: folder, upTo: requests)
        let outcome = try await tool.drive(requests)
        round["h2load"] = outcome.own
        round["h2load's rate"] = outcome.rate
        round["h2load's gateway"] = outcome.gateway
        round.shareOfOthers = max(round.shareOfOthers, outcome.shareOfOthers)
        round.broken += outcome.broken
    }

    private func measureFarm(
        _ number: Int, _ gateway: Gateway, _ folder: String, _ plan: BenchPlan, _ cores: Cores,
        into round: inout Round
    ) async throws {
        let jobs = PreparedJobs("b", pushes: plan.pushes(pushes), jobSize: jobSize, kind: kind)
        let farm = try await BenchFarm.start(
            BenchFarm.Options(workers: workers, logFile: "\(plan.folder)/\(key)-\(number).log"), gateway,
            in: folder)
        let accepted = try gateway.counter("accepted")
        let run = try await farm.measure(cores) {
            try farm.push(jobs)
            try await farm.settled(accepted + jobs.pushes)
        }
        let jobRecord = try farm.jobRecord(of: jobs.ids)
        let arrived = try gateway.counter("accepted") - accepted
        let distinct = plan.isRehearsal ? try gateway.counter("distinct_tokens") : nil
        round.broken += jobRecord.complaints(pushes: jobs.pushes, atGateway: arrived, distinct: distinct)
        round.broken += try await farm.end()
        round.add(run, pushes: jobs.pushes)
        round["rate"] = Double(jobs.pushes) / ((jobRecord.finishedAt - run.startedAt) / 1_000)
    }
}
