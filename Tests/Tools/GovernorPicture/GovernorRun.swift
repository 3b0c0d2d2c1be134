import FarmHarness
import Foundation

/// A farm with one worker under a load that never runs out, at a gateway whose weather changes.
struct GovernorRun {
    struct Sample {
        var at: Double
        var accepted: Int
        var troubles: Int
        var connections: Int
        /// Pushes a second that the worker lets the app send; 0: any number.
        var slowedTo: Int
    }

    let say: (String) -> Void
    private static let pace = Duration.milliseconds(500)
    private static let jobSize = 1000
    /// Pushes that wait: enough that the load is never what is short.
    private static let backlog = 40_000

    func run() async throws -> (samples: [Sample], log: String) {
        let folder = try TestFolder()
        let gateway = try await Gateway(
            in: folder.path, faults: Weather.start, options: Weather.options, hasLedger: false)
        let redis = try await RedisServer(in: folder.path)
        let file = try folder.write(
            """
            redis: unix://\(redis.socket)
            state_dir: \(folder.path)/var
            workers: 1
            apps:
            \(App(gateway.started).text)

            """, to: "pushfarm.yaml")
        let coordinator = try Child(
            "coordinator", BuiltProgram.path, ["coordinator", "--config", file], in: folder.path)
        let producer = try redis.client()
        var (samples, weather, jobs) = ([Sample](), Weather.all[...], 0)
        let start = ContinuousClock.now
        while true {
            let now = (ContinuousClock.now - start) / .seconds(1)
            guard now < Weather.end else { break }
            if let next = weather.first, now >= next.at {
                try gateway.tell(next.line)
                say("\(Int(now)) s: \(next.words)")
                weather.removeFirst()
            }
            let sample = try await look(gateway, file, folder.path, at: now)
            samples.append(sample)
            while now < Weather.loadEnds, jobs * Self.jobSize < sample.accepted + Self.backlog {
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

    private func look(
        _ gateway: Gateway, _ configuration: String, _ folder: String, at now: Double
    ) async throws -> Sample {
        let counters =
            try JSONSerialization.jsonObject(with: Data(gateway.tell("counters").utf8)) as? [String: Any]
            ?? [:]
        let byStatus = counters["by_status"] as? [String: Int] ?? [:]
        let refused = byStatus.filter { $0.key != "200" }.values.reduce(0, +)
        let status = try Child(
            // A name of its own: output of the same name is appended to.
            "status-\(Int(now * 1000))", BuiltProgram.path, ["status", "--json", "--config", configuration],
            in: folder)
        _ = try await status.wait()
        let host = try? JSONDecoder().decode(Hosts.self, from: Data(status.output.utf8)).hosts.first
        return Sample(
            at: now, accepted: counters["accepted"] as? Int ?? 0, troubles: refused,
            connections: counters["open_connections"] as? Int ?? 0,
            slowedTo: host?.workers.first?.slowedTo ?? 0)
    }

    /// What is wanted of `pushfarm status --json`.
    private struct Hosts: Decodable {
        struct Host: Decodable { var workers: [Worker] }
        struct Worker: Decodable {
            var slowedTo: Int
            private enum CodingKeys: String, CodingKey { case slowedTo = "slowed_to" }
        }
        var hosts: [Host]
    }
}
