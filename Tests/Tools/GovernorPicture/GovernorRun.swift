import FarmHarness
import Foundation

/// Runs a farm with one worker and endless load at a gateway whose behaviour changes.
struct GovernorRun {
    struct Sample {
        var at: Double
        var accepted: Int
        var troubles: Int
        var connections: Int
        /// The app's send rate in the worker, in pushes a second. 0 means no limit.
        var slowedTo: Int
    }

    let say: (String) -> Void
    private static let pace = Duration.milliseconds(500)
    private static let jobSize = 1000
    /// The number of queued pushes, which is large enough that the load is never the limit.
    private static let backlog = 40_000

    func run() async throws -> (samples: [Sample], log: String) {
        var options = Farm.Options(
            workers: 1, faults: GatewayConditions.start, simulatorOptions: GatewayConditions.options)
        options.hasLedger = false
        let farm = try await Farm(options)
        let (gateway, coordinator) = (farm.gateway, farm.coordinator)
        let producer = try farm.redis.client()
        var (samples, conditions, jobs) = ([Sample](), GatewayConditions.all[...], 0)
        let start = ContinuousClock.now
        while true {
            let now = (ContinuousClock.now - start) / .seconds(1)
            guard now < GatewayConditions.end else { break }
            if let next = conditions.first, now >= next.at {
                try gateway.control(next.line)
                say("\(Int(now)) s: \(next.words)")
                conditions.removeFirst()
            }
            let sample = try await observe(farm, at: now)
            samples.append(sample)
            while now < GatewayConditions.loadEnds, jobs * Self.jobSize < sample.accepted + Self.backlog {
                jobs += 1
                let job = Job(id: "j\(jobs)", tokens: Tokens.make(Self.jobSize, seed: UInt64(jobs)))
                try producer.run("RPUSH", "pushfarm:demo", job.text)
            }
            try await Task.sleep(until: start + Self.pace * samples.count)
        }
        coordinator.signal(SIGTERM)
        _ = try await coordinator.wait()
        return (samples, coordinator.error)
    }

    private func observe(_ farm: Farm, at now: Double) async throws -> Sample {
        let counters =
            try JSONSerialization.jsonObject(with: Data(farm.gateway.control("counters").utf8))
            as? [String: Any]
            ?? [:]
        let byStatus = counters["by_status"] as? [String: Int] ?? [:]
        let refused = byStatus.filter { $0.key != "200" }.values.reduce(0, +)
        let status = try await farm.run("status", "--json")
        let host = try? JSONDecoder().decode(Hosts.self, from: Data(status.output.utf8)).hosts.first
        return Sample(
            at: now, accepted: counters["accepted"] as? Int ?? 0, troubles: refused,
            connections: counters["open_connections"] as? Int ?? 0,
            slowedTo: host?.workers.first?.slowedTo ?? 0)
    }

    /// The needed part of `pushfarm status --json`.
    private struct Hosts: Decodable {
        struct Host: Decodable { var workers: [Worker] }
        struct Worker: Decodable {
            var slowedTo: Int
            private enum CodingKeys: String, CodingKey { case slowedTo = "slowed_to" }
        }
        var hosts: [Host]
    }
}
