import BenchKit
import FarmHarness

/// Measures a campaign to stored devices. Before and after the campaign, the same farm delivers jobs of 1,000 tokens.
struct StoredDevices: BenchCase {
    let key = "campaign"
    let title = "a campaign to all stored devices, two workers, RPUSH of the campaign to last settle"
    let isOnce = true
    let isRehearsed = true
    let measures = [
        Measure("registrations a second", "/s", "registrations"),
        Measure("Redis, CPU a registration", "µs", "redis of registrations"),
        Measure("Redis, bytes a device", "B", "bytes"),
        Measure("segments count, five terms", "ms", "count", bar: .atMost(1_000)),
        Measure("start to first push", "ms", "first", bar: .atMost(1_000)),
        Measure("pushes a second", "/s", "rate", beside: "jobs", of: "jobs of 1,000", bar: .atLeast(0.8)),
        Measure("worker, CPU a push", "µs", "worker"),
        Measure("coordinator and intake, CPU a push", "µs", "feeding", beside: "worker", of: "worker"),
        Measure("Redis, CPU a push", "µs", "redis", beside: "worker", of: "worker"),
        Measure("intake, greatest memory", "MB", "intake's peak"),
    ]

    private static let devices = 1_000_000
    private static let fiveTerms = "lang:en & platform:ios & !tag:tag-3 & seen<120d & environment:production"
    private static let jobPushes = 1_000_000

    func round(_ number: Int, _ plan: BenchPlan, _ cores: Cores) async throws -> Round {
        let folder = try TestFolder()
        let gateway = try await Gateway(
            in: folder.path,
            options: ["--no-first-stream-limit"] + (plan.isRehearsal ? ["--count-distinct"] : []),
            hasLedger: false)
        let farm = try await BenchFarm.start(
            BenchFarm.Options(
                app: ["max_backlog: 20000000"], logFile: "\(plan.folder)/\(key)-\(number).log"), gateway,
            in: folder.path)
        let chosen = plan.isRehearsal ? nil : plan.devices
        let devices = chosen ?? plan.pushes(Self.devices)
        var round = Round()
        try await register(devices, farm, cores, into: &round)
        round["count"] = try await farm.countSegment(Self.fiveTerms).seconds * 1_000
        let before = try await jobRate("before", farm, plan, into: &round)
        try await runCampaign(devices, farm, plan, cores, into: &round)
        round["jobs"] = (before + (try await jobRate("after", farm, plan, into: &round))) / 2
        round["intake's peak"] = ResidentMemory.megabytes(of: [farm.processes.intake], .greatest)
        round.broken += try await farm.end()
        return round
    }

    private func register(
        _ devices: Int, _ farm: BenchFarm, _ cores: Cores, into round: inout Round
    ) async throws {
        let memory = try farm.usedMemory()
        let run = try await farm.measure(cores) {
            try await farm.register(0..<devices)
        }
        round["registrations"] = Double(devices) / ((try farm.redisTime() - run.startedAt) / 1_000)
        round["redis of registrations"] = run.use.redis / Double(devices) * 1e6
        round["bytes"] = (try farm.usedMemory() - memory) / Double(devices)
        round.shareOfOthers = max(round.shareOfOthers, run.shareOfOthers)
    }

    /// The pushes a second of jobs of 1,000 tokens.
    private func jobRate(
        _ name: String, _ farm: BenchFarm, _ plan: BenchPlan, into round: inout Round
    ) async throws -> Double {
        let jobs = PreparedJobs(name, pushes: plan.pushes(Self.jobPushes), jobSize: 1_000)
        let accepted = try farm.gateway.counter("accepted")
        let start = try farm.redisTime()
        try farm.push(jobs)
        try await farm.settled(accepted + jobs.pushes)
        let jobRecord = try farm.jobRecord(of: jobs.ids)
        let arrived = try farm.gateway.counter("accepted") - accepted
        round.broken += jobRecord.complaints(pushes: jobs.pushes, atGateway: arrived).map { "\(name): \($0)" }
        return Double(jobs.pushes) / ((jobRecord.finishedAt - start) / 1_000)
    }

    private func runCampaign(
        _ devices: Int, _ farm: BenchFarm, _ plan: BenchPlan, _ cores: Cores, into round: inout Round
    ) async throws {
        let id = "everybody"
        let accepted = try farm.gateway.counter("accepted")
        var first = 0.0
        let run = try await farm.measure(cores) {
            let start = try farm.redisTime()
            try farm.startCampaign(id, #""segment":"all""#)
            while try farm.gateway.counter("accepted") == accepted {
                guard try farm.redisTime() < start + 60_000 else {
                    throw Overdue(description: "the campaign has no first push")
                }
                try await Task.sleep(for: .milliseconds(2))
            }
            first = try farm.redisTime() - start
            try await farm.settled(accepted + devices, within: .seconds(900))
            try await eventually("the campaign is finished") { try farm.isFinished(id) }
        }
        let jobRecord = try farm.jobRecord(of: [id])
        let arrived = try farm.gateway.counter("accepted") - accepted
        round.broken += jobRecord.complaints(pushes: devices, atGateway: arrived)
        // The jobs push to the first devices, so they add no tokens.
        if plan.isRehearsal, try farm.gateway.counter("distinct_tokens") != devices {
            round.broken.append("\(devices) devices, but another number of tokens at the gateway")
        }
        round.add(run, pushes: devices)
        round["first"] = first
        round["rate"] = Double(devices) / ((jobRecord.finishedAt - run.startedAt) / 1_000)
    }
}
