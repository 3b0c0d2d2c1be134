import BenchKit
import FarmHarness

/// Measures how fast the farm delivers a backlog to a distant gateway, from a start without connections.
struct FarGateway: BenchCase {
    /// A gateway that responds after some time.
    private struct Distance {
        let milliseconds: Int
        let pushes: Int
        /// Lines of the app's configuration.
        var app: [String] = []
        /// The least rate, as a share of the rate at a gateway that responds at once.
        var least: Double?

        var name: String { "\(milliseconds) ms" }
    }

    private static let distances = [
        Distance(milliseconds: 50, pushes: 1_000_000, least: 0.7),
        Distance(milliseconds: 200, pushes: 500_000, app: ["max_conns: 32"], least: 0.4),
        Distance(milliseconds: 500, pushes: 200_000),
    ]
    private static let nearPushes = 1_000_000

    let key = "far"
    let title =
        "a backlog in jobs of 1,000 at a distant gateway, from a start without connections, two workers"
    let measures =
        [Measure("response at once: pushes a second", "/s", "near")]
        + distances.flatMap { distance in
            [
                Measure(
                    "response after \(distance.name): pushes a second", "/s", distance.name, beside: "near",
                    of: "at once", bar: distance.least.map { .atLeast($0) }),
                Measure("response after \(distance.name): connections", "", "\(distance.name), connections"),
            ]
        }

    func round(_ number: Int, _ plan: BenchPlan, _ cores: Cores) async throws -> Round {
        var round = Round()
        round["near"] = try await measure(nil, number, plan, cores, into: &round)
        for distance in Self.distances {
            round[distance.name] = try await measure(distance, number, plan, cores, into: &round)
        }
        return round
    }

    /// - Returns: the pushes a second, from the RPUSH of the jobs to the last settlement.
    private func measure(
        _ distance: Distance?, _ number: Int, _ plan: BenchPlan, _ cores: Cores, into round: inout Round
    ) async throws -> Double {
        let folder = try TestFolder()
        let gateway = try await Gateway(
            in: folder.path, faults: distance.map { ["latency \($0.milliseconds)ms"] } ?? [],
            options: ["--no-first-stream-limit", "--streams", "1000"], hasLedger: false)
        let name = "\(plan.folder)/\(key)-\(distance?.milliseconds ?? 0)-\(number).log"
        let farm = try await BenchFarm.start(
            BenchFarm.Options(app: (distance?.app ?? []) + ["max_backlog: 20000000"], logFile: name), gateway,
            in: folder.path)
        let jobs = PreparedJobs("b", pushes: plan.pushes(distance?.pushes ?? Self.nearPushes), jobSize: 1_000)
        let accepted = try gateway.counter("accepted")
        let run = try await farm.measure(cores) {
            try farm.push(jobs)
            try await farm.settled(accepted + jobs.pushes)
            if let distance {
                round["\(distance.name), connections"] = Double(try gateway.counter("open_connections"))
            }
        }
        let jobRecord = try farm.jobRecord(of: jobs.ids)
        let arrived = try gateway.counter("accepted") - accepted
        round.broken += jobRecord.complaints(pushes: jobs.pushes, atGateway: arrived)
        round.broken += try await farm.end()
        round.shareOfOthers = max(round.shareOfOthers, run.shareOfOthers)
        return Double(jobs.pushes) / ((jobRecord.finishedAt - run.startedAt) / 1_000)
    }
}
