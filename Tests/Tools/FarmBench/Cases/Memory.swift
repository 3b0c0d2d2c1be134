import FarmHarness
import Foundation

/// Measures the memory for a large backlog. Tokens that wait in Redis need memory of Redis, but no memory of the farm's
/// processes.
struct Memory: BenchCase {
    let key = "memory"
    let title = "a backlog of 10,000,000 tokens in jobs of 1,000, two workers; the greatest at work"
    let isOnce = true
    let measures = [
        Measure("worker", "MB", "worker", bar: .atMost(20)),
        Measure("worker, with its start", "MB", "worker's peak"),
        Measure("coordinator", "MB", "coordinator", bar: .atMost(40)),
        Measure("intake", "MB", "intake"),
        Measure("Redis, bytes a token", "B", "redis", bar: .atMost(80)),
    ]

    private static let backlog = 10_000_000
    private static let piece = 250_000

    func round(_ number: Int, _ plan: BenchPlan, _ cores: Cores) async throws -> Round {
        let folder = try TestFolder()
        // The gateway is so slow that the farm always has work, and delivers very few pushes.
        let gateway = try await Gateway(
            in: folder.path, faults: ["latency 500ms"],
            options: ["--no-first-stream-limit", "--streams", "50"], hasLedger: false)
        let farm = try await BenchFarm.start(
            BenchFarm.Options(
                app: ["max_backlog: 20000000"], logFile: "\(plan.folder)/\(key)-\(number).log"), gateway,
            in: folder.path)
        let pushes = plan.pushes(Self.backlog)
        var (ids, pushed) = ([String](), 0)
        var round = Round()
        let run = try await farm.measure(cores) {
            while pushed < pushes {
                let count = min(Self.piece, pushes - pushed)
                let jobs = PreparedJobs("b\(pushed)", pushes: count, jobSize: 1_000, first: pushed)
                try farm.push(jobs)
                ids += jobs.ids
                pushed += count
            }
            try await eventually("the intake has read all jobs", within: .seconds(300)) {
                try farm.client.run("LLEN", "pushfarm:demo").integer == 0
                    && farm.client.run("LLEN", "{pushfarm:demo}:taken").integer == 0
            }
            round["worker"] = ResidentMemory.megabytes(of: farm.processes.workers, .current)
            // After a second or two, Redis has freed its clients' buffers.
            try await Task.sleep(for: .seconds(2))
            // The farm delivers meanwhile, so the true number of open pushes lies between these two counts.
            let before = try farm.open()
            let jobRecord = try farm.jobRecord(of: ids)
            let after = try farm.open()
            if jobRecord.accepted != pushes
                || !(pushes - before...pushes - after).contains(jobRecord.delivered)
            {
                round.broken.append(
                    "\(pushes) pushes, \(jobRecord.accepted) accepted, \(jobRecord.delivered) delivered, \(after) open"
                )
            }
            round["redis"] = try farm.usedMemory() / Double(pushes)
            // The rest of the run measures the farm at full speed.
            try gateway.control("latency off")
            try gateway.control("streams 1000")
            let start = try gateway.counter("accepted")
            try await eventually("deliveries continue") {
                round["worker"] = max(
                    round["worker"] ?? 0, ResidentMemory.megabytes(of: farm.processes.workers, .current))
                return try gateway.counter("accepted") >= min(pushes, start + plan.pushes(200_000))
            }
        }
        round.shareOfOthers = run.shareOfOthers
        round["worker's peak"] = ResidentMemory.megabytes(of: farm.processes.workers, .greatest)
        round["coordinator"] = ResidentMemory.megabytes(of: [farm.coordinatorID], .greatest)
        round["intake"] = ResidentMemory.megabytes(of: [farm.processes.intake], .greatest)
        round.broken += try await farm.end()
        return round
    }
}

extension BenchFarm {
    /// The bytes of Redis's data and buffers.
    func usedMemory() throws -> Double {
        let text = try client.run("INFO", "memory").text ?? ""
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("used_memory:") }
        guard let bytes = line.flatMap({ Double($0.dropFirst("used_memory:".count)) }) else {
            throw Overdue(description: "Redis does not report its memory")
        }
        return bytes
    }
}
