import FarmHarness

/// Measures the latency of single urgent pushes during a bulk job, and how much the urgent pushes slow the bulk
/// job down.
struct UrgentLatency: BenchCase {
    let key = "urgent"
    let title = "a campaign in lane bulk, and 2,000 pushes of one token in lane high, RPUSH to receipt"
    let measures = [
        Measure("high: p99", "ms", "p99", bar: .atMost(50)),
        Measure("high: p50", "ms", "p50"),
        Measure("high: greatest", "ms", "greatest"),
        Measure(
            "bulk: pushes a second", "/s", "rate beside high", beside: "rate alone", of: "alone",
            bar: .atLeast(0.8)),
    ]

    private static let samples = 2_000
    private static let campaign = 1_500_000

    func round(_ number: Int, _ plan: BenchPlan, _ cores: Cores) async throws -> Round {
        var round = Round()
        for isAlone in number.isMultiple(of: 2) ? [true, false] : [false, true] {
            try await measure(number, isAlone: isAlone, plan, cores, into: &round)
        }
        return round
    }

    /// The measurement of the bulk job's rate starts when a tenth of the job has arrived. It ends after the last sample or, if
    /// there are no samples, when seven tenths of the job have arrived.
    private func measure(
        _ number: Int, isAlone: Bool, _ plan: BenchPlan, _ cores: Cores, into round: inout Round
    ) async throws {
        let folder = try TestFolder()
        let gateway = try await Gateway(in: folder.path, options: ["--no-first-stream-limit"])
        let name = "\(plan.folder)/\(key)-\(number)-\(isAlone ? "alone" : "both").log"
        let farm = try await BenchFarm.start(BenchFarm.Options(logFile: name), gateway, in: folder.path)
        let jobs = PreparedJobs(
            "b", pushes: plan.pushes(Self.campaign), jobSize: 1_000, fields: #""lane":"bulk""#)
        let samples = Samples(isAlone ? 0 : max(20, Self.samples / plan.divisor), rest: 3_000...8_000)
        var moments: [String: Int64] = [:]
        var bulk = 0.0
        let run = try await farm.measure(cores) {
            try farm.push(jobs)
            while try gateway.counter("accepted") < jobs.pushes / 10 {
                try await Task.sleep(for: .milliseconds(10))
            }
            let (start, before) = (try farm.redisTime(), try gateway.counter("accepted"))
            if isAlone {
                while try gateway.counter("accepted") < jobs.pushes * 7 / 10 {
                    try await Task.sleep(for: .milliseconds(10))
                }
            } else {
                moments = try await samples.push(to: farm)
            }
            let (end, after) = (try farm.redisTime(), try gateway.counter("accepted"))
            bulk = Double(after - before - moments.count) / ((end - start) / 1_000)
            if plan.divisor == 1, after - moments.count > jobs.pushes * 95 / 100 {
                round.broken.append("the campaign ended before the samples")
            }
            try await farm.settled(jobs.pushes + moments.count)
        }
        let jobRecord = try farm.jobRecord(of: jobs.ids + (isAlone ? [] : samples.ids))
        round.broken += jobRecord.complaints(
            pushes: jobs.pushes + moments.count, atGateway: try gateway.counter("accepted"))
        round.broken += try await farm.end()
        round.shareOfOthers = max(round.shareOfOthers, run.shareOfOthers)
        round[isAlone ? "rate alone" : "rate beside high"] = bulk
        if !isAlone {
            let latencies = try await Samples.latencies(moments, gateway, in: folder.path)
            round.add(latencies: latencies, of: moments.count)
        }
    }
}
