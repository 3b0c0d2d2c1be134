import ChaosChecker
package import EventLoop
import FarmHarness
import Foundation

/// A long run at half of the gateway's capacity with few faults. The run finds resources that grow.
@Loop package final class Soak {
    package struct Report: Sendable {
        package let series: [Series]
        package let jobs: Int
        package let accepted: Int
        package let outcomes: Int
        package let delivered: Int
        /// The number of requests that the gateway accepted.
        package let atGateway: Int
        package let kills: Int
        package let complaints: [String]
        package var isGood: Bool { complaints.isEmpty }
    }

    private let stage: Stage
    private let minutes: Double
    private var series: [String: Series] = [:]
    private let ledger = EventCount()
    private var kills = 0
    private var accepted = 0
    private var jobs: Set<String> = []
    /// Jobs for which Redis sent no timely reply: the number of pushes by job id. It is unknown whether the farm has these jobs.
    private var unknown: [String: Int] = [:]

    /// Bounded resources: events, job records, suppressed tokens, refused jobs.
    nonisolated fileprivate static let bounded = ["events", "jobs", "invalid", "refused"]

    package init(minutes: Double, seed: UInt64) async throws {
        self.minutes = minutes
        var options = Stage.Options()
        // The gateway accepts at most 2,000 pushes a second: two workers with 20 streams each, 20 ms a push. The
        // load is half of this rate.
        options.gateway = ["latency 20ms", "streams 20", "answer 503 share=4%", "reset 1%"]
        options.farmLines = ["job_records_kept: 1000"]
        options.watches = false
        stage = try await Stage(
            options, scale: Scale(span: .seconds(minutes * 60), isShort: false), seed: seed)
    }

    package func run() async throws -> Report {
        try await ledger.fill(stage.redis.socket)
        let start = ContinuousClock.now
        let end = start + .seconds(minutes * 60)
        let load = Loop.task { await self.produce(until: end) }
        var nextKill = start + .seconds(30)
        while ContinuousClock.now < end {
            try await stage.pause(.seconds(max(2, min(10, minutes * 60 / 200))))
            if ContinuousClock.now > nextKill {
                await stage.killWorker()
                kills += 1
                nextKill = .now + .seconds(60)
                // The successor must first load its program pages into memory.
                try await stage.pause(.seconds(2))
            }
            try await sample(at: Self.seconds(.now - start))
        }
        await load.value
        return try await report()
    }

    private func produce(until end: ContinuousClock.Instant) async {
        while ContinuousClock.now < end {
            let (job, promise) = stage.load.job(100)
            switch await stage.producers[0].push(job, promise) {
            case .accepted:
                jobs.insert(job.id)
                accepted += promise.tokens.count
            case .unknown: unknown[job.id] = promise.tokens.count
            default: break
            }
            stage.producers[0].forget()
            _ = try? await Loop.sleep(for: .milliseconds(100))
        }
    }

    private func sample(at time: Double) async throws {
        for (name, unit, value) in try await Gauges(stage: stage).read() {
            let key = "\(unit.rawValue) \(name)"
            series[key, default: Series(name, unit)].add(value, at: time)
        }
        try await ledger.read(stage.redis.socket)
    }

    private func report() async throws -> Report {
        var complaints: [String] = []
        do {
            try await eventually("all jobs are finished", within: .seconds(180)) {
                try await ledger.read(stage.redis.socket)
                return jobs.isSubset(of: ledger.finished)
            }
        } catch { complaints.append("\(error)") }
        for host in stage.hosts {
            host.signal(SIGTERM)
            let end = try await host.ended()
            if end != .exited(0) { complaints.append("the coordinator, after SIGTERM: \(end)") }
        }
        let atGateway = try stage.gateway.counter("accepted")
        // If an event says that a job without a reply is finished, the farm has accepted this job.
        for job in ledger.finished {
            guard let pushes = unknown[job] else { continue }
            jobs.insert(job)
            accepted += pushes
        }
        if ledger.finished != jobs || ledger.repeated > 0 {
            complaints.append(
                "\(jobs.count) jobs, \(ledger.finished.count) finished, \(ledger.repeated) once more")
        }
        if ledger.accepted != accepted || ledger.outcomes != accepted {
            complaints.append(
                "\(accepted) pushes accepted, \(ledger.accepted) in finished jobs, \(ledger.outcomes) outcomes"
            )
        }
        if atGateway < ledger.delivered {
            complaints.append("\(ledger.delivered) counted as delivered, \(atGateway) at the gateway")
        }
        let all = series.values.sorted { ($0.unit.rawValue, $0.name) < ($1.unit.rawValue, $1.name) }
        for one in all where !one.isFlat && !Self.bounded.contains(one.name) && one.name != "simulator" {
            complaints.append("\(one.name) grows: \(one.unit.rawValue) \(Self.text(one.slope)) an hour")
        }
        return Report(
            series: all, jobs: jobs.count, accepted: accepted, outcomes: ledger.outcomes,
            delivered: ledger.delivered, atGateway: atGateway, kills: kills, complaints: complaints)
    }

    nonisolated static func text(_ value: Double) -> String { String(format: "%.1f", value) }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }
}

extension Soak.Report {
    /// A table with a line for each series.
    package var table: String {
        let heading = ["what", "unit", "median", "greatest", "an hour", "verdict"]
        let rows = series.map { one in
            [
                one.name, one.unit.rawValue, Soak.text(one.median), Soak.text(one.greatest),
                (one.slope < 0 ? "" : "+") + Soak.text(one.slope),
                one.isFlat ? "flat" : Soak.bounded.contains(one.name) ? "fills up to its bound" : "grows",
            ]
        }
        let widths = (0..<heading.count).map { column in
            ([heading] + rows).map { $0[column].count }.max() ?? 0
        }
        return ([heading] + rows).map { row in
            row.enumerated().map { column, text in
                let room = String(repeating: " ", count: widths[column] - text.count)
                return column < 2 || column == 5 ? text + room : room + text
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// All values as CSV: time, name, unit, value.
    package var csv: String {
        var lines = ["seconds,name,unit,value"]
        for one in series {
            lines += one.points.map {
                "\(Soak.text($0.time)),\"\(one.name)\",\(one.unit.rawValue),\(Soak.text($0.value))"
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
