import FarmHarness

/// Measures the throughput at a slow gateway. The number of pushes in flight limits the throughput.
struct SlowGateway: BenchCase {
    /// One worker with a number of connections, or a number of workers with one connection each.
    private enum Step {
        case connections(Int)
        case workers(Int)

        var count: Int {
            switch self {
            case .connections(let count), .workers(let count): count
            }
        }
    }

    let key: String
    let title: String
    let measures: [Measure]
    private let steps: [Step]
    /// The number of streams of a connection.
    private let streams: Int
    /// How many seconds each measurement takes if the farm reaches the limit.
    private let seconds: Double

    private static let latency = 0.05

    static let connections = SlowGateway(
        key: "slow", title: "a gateway that answers after 50 ms, 1,000 streams a connection, one worker",
        measures: [1, 2, 4].flatMap { count in
            [
                Measure(
                    "\(Self.word(count, "connection")): pushes a second", "/s", "rate \(count)",
                    beside: "limit \(count)",
                    of: "limit", bar: .atLeast(0.8), unlessFull: "fullness \(count)"),
                Measure(
                    "\(Self.word(count, "connection")): h2load", "/s", "h2load \(count)",
                    beside: "limit \(count)",
                    of: "limit"),
            ]
        }, steps: [.connections(1), .connections(2), .connections(4)], streams: 1_000, seconds: 4)

    static let workers = SlowGateway(
        key: "workers", title: "a gateway that answers after 50 ms, 200 streams a connection, one a worker",
        measures: [1, 2, 4, 8].map { count in
            Measure(
                "\(Self.word(count, "worker")): pushes a second", "/s", "rate \(count)",
                beside: "linear \(count)",
                of: "linear", bar: count == 1 ? nil : .atLeast(0.9), unlessFull: "fullness \(count)")
        }, steps: [.workers(1), .workers(2), .workers(4), .workers(8)], streams: 200, seconds: 5)

    private static func word(_ count: Int, _ word: String) -> String {
        count == 1 ? "1 \(word)" : "\(count) \(word)s"
    }

    private func limit(_ connections: Int) -> Double { Double(streams * connections) / Self.latency }

    func round(_ number: Int, _ plan: BenchPlan, _ cores: Cores) async throws -> Round {
        var round = Round()
        for step in steps { try await measure(step, number, plan, cores, into: &round) }
        for count in steps.map(\.count) {
            round["linear \(count)"] = round["rate 1"].map { $0 * Double(count) }
        }
        return round
    }

    private func measure(
        _ step: Step, _ number: Int, _ plan: BenchPlan, _ cores: Cores, into round: inout Round
    ) async throws {
        let folder = try TestFolder()
        let gateway = try await Gateway(
            in: folder.path, faults: ["latency 50ms"],
            options: ["--no-first-stream-limit", "--streams", "\(streams)"], hasLedger: false)
        let (count, limit) = (step.count, limit(step.count))
        var options = BenchFarm.Options(logFile: "\(plan.folder)/\(key)-\(count)-\(number).log")
        switch step {
        case .connections: (options.workers, options.app) = (1, ["connections: \(count)"])
        case .workers: (options.workers, options.app) = (count, ["connections: 1"])
        }
        let pushes = plan.pushes(Int(min(limit, 50_000) * seconds))
        round["limit \(count)"] = limit
        if case .connections = step {
            let tool = try await LoadTool(gateway, cores, in: folder.path, upTo: pushes)
            let outcome = try await tool.drive(pushes, connections: count, streams: streams)
            round["h2load \(count)"] = outcome.rate
            round.broken += outcome.broken
            round.shareOfOthers = max(round.shareOfOthers, outcome.shareOfOthers)
        }
        let jobs = PreparedJobs("b", pushes: pushes, jobSize: 1_000)
        let farm = try await BenchFarm.start(options, gateway, in: folder.path)
        let accepted = try gateway.counter("accepted")
        let run = try await farm.measure(cores) {
            try farm.push(jobs)
            try await farm.settled(accepted + pushes)
        }
        let jobRecord = try farm.jobRecord(of: jobs.ids)
        let arrived = try gateway.counter("accepted") - accepted
        round.broken += jobRecord.complaints(pushes: pushes, atGateway: arrived)
        round.broken += try await farm.end()
        round["rate \(count)"] = Double(pushes) / ((jobRecord.finishedAt - run.startedAt) / 1_000)
        round["fullness \(count)"] = run.fullness
        round.shareOfOthers = max(round.shareOfOthers, run.shareOfOthers)
    }
}
