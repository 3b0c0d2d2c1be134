import FarmHarness

/// Measures the latency of a single push in an idle farm.
struct IdleLatency: BenchCase {
    let key = "idle"
    let title = "idle farm, RPUSH of one token to its receipt at the gateway, 2,000 samples a round"
    let measures = [
        Measure("p50", "ms", "p50", bar: .atMost(2)),
        Measure("p99", "ms", "p99", bar: .atMost(10)),
        Measure("greatest", "ms", "greatest"),
    ]

    private static let count = 2_000
    /// The number of pushes that warm the farm up.
    private static let warmUp = 50

    func round(_ number: Int, _ plan: BenchPlan, _ cores: Cores) async throws -> Round {
        let folder = try TestFolder()
        let gateway = try await Gateway(in: folder.path, options: ["--no-first-stream-limit"])
        let farm = try await BenchFarm.start(
            BenchFarm.Options(logFile: "\(plan.folder)/\(key)-\(number).log"), gateway, in: folder.path)
        let jobs = PreparedJobs("w", pushes: Self.warmUp, jobSize: 1)
        try farm.push(jobs)
        try await farm.settled(jobs.pushes)
        let samples = Samples(max(20, Self.count / plan.divisor), rest: 3_000...8_000)
        var moments: [String: Int64] = [:]
        let run = try await farm.measure(cores) {
            moments = try await samples.push(to: farm)
            try await farm.settled(jobs.pushes + moments.count)
        }
        var round = Round(shareOfOthers: run.shareOfOthers)
        let jobRecord = try farm.jobRecord(of: samples.ids)
        let arrived = try gateway.counter("accepted") - jobs.pushes
        round.broken = jobRecord.complaints(pushes: moments.count, atGateway: arrived)
        round.broken += try await farm.end()
        round.add(
            latencies: try await Samples.latencies(moments, gateway, in: folder.path), of: moments.count)
        return round
    }
}

extension Round {
    /// - Parameter count: the number of samples that must have arrived.
    mutating func add(latencies: [Double], of count: Int) {
        if latencies.count != count { broken.append("\(count) samples, \(latencies.count) in the ledger") }
        self["p50"] = Spread.percentile(0.5, of: latencies)
        self["p99"] = Spread.percentile(0.99, of: latencies)
        self["greatest"] = latencies.max()
    }
}
