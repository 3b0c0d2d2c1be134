import BenchKit
import FarmHarness
import Foundation
import RedisProtocol

/// Runs an experiment with its own farm: Redis, a coordinator with its workers, and a simulator.
struct FarmRun {
    let experiment: Experiment
    var path = GatewayPath.binary
    /// The file for the farm's log.
    var logFile: String?
    private static let jobSize = 1_000
    private static let timeout = Duration.seconds(600)

    func run() async throws -> Tally {
        let folder = try TestFolder()
        let gateway = try await Gateway.counting(in: folder.path, experiment, prefix: prefix)
        let redis = try await RedisServer(in: folder.path, prefix: prefix)
        let file = try folder.write(configuration(redis, gateway.started, folder.path), to: "pushfarm.yaml")
        let coordinator = try Child(
            "coordinator", BuiltProgram.path, ["coordinator", "--config", file], in: folder.path,
            prefix: prefix)
        let workers = try await FarmProcesses.ready(
            coordinator, configuration: file, workers: experiment.workers, in: folder.path
        ).workers
        defer { keep(coordinator.error) }
        let jobs = jobs()
        let before = workers.map(ProcessTime.seconds(of:))
        let (texts, socket) = (jobs.map(\.text), redis.socket)
        let start = ContinuousClock.now
        async let pushed: Void = push(texts, to: socket)
        var killed: pid_t?
        if experiment.kills {
            try await eventually("half of the pushes have arrived", within: Self.timeout) {
                try gateway.count(path).accepted >= experiment.tokens.count / 2
            }
            killed = workers.first
            workers.first.map { _ = kill($0, SIGKILL) }
        }
        try await pushed
        let jobRecord = try await finished(jobs.map(\.id), redis)
        let seconds = (ContinuousClock.now - start).seconds
        let used = zip(workers, before).filter { $0.0 != killed }.reduce(0) {
            $0 + ProcessTime.seconds(of: $1.0) - $1.1
        }
        coordinator.signal(SIGTERM)
        guard try await coordinator.wait() == .exited(0) else {
            throw Overdue(description: "the coordinator: \(coordinator.error.suffix(2_000))")
        }
        var tally = tally(
            try gateway.count(path), jobRecord, seconds, workerSeconds: killed == nil ? used : nil)
        let ends =
            coordinator.error.split(separator: "killed(signal", omittingEmptySubsequences: false).count - 1
        tally.crashes = ends - (killed == nil ? 0 : 1)
        return tally
    }

    private func keep(_ log: String) {
        if let logFile { try? log.write(toFile: logFile, atomically: true, encoding: .utf8) }
    }

    private func tally(
        _ count: SimulatorCount.Side, _ jobRecord: Tally.JobRecord, _ seconds: Double, workerSeconds: Double?
    ) -> Tally {
        let length = experiment.tokens.count
        let claim = HistoricSender.Claim(
            sent: jobRecord.delivered, refused: jobRecord.failed, seconds: seconds)
        let name = path == .binary ? "the farm" : "the farm, HTTP/2"
        var tally = Tally(experiment, sender: name, length: length, count, claim: claim)
        (tally.jobRecord, tally.workerSeconds) = (jobRecord, workerSeconds)
        return tally
    }

    /// The command that binds a process to the experiment's cores.
    private var prefix: [String] {
        experiment.cores.map { ["taskset", "-c", "0-\($0 - 1)"] } ?? []
    }

    private func configuration(_ redis: RedisServer, _ started: Gateway.Started, _ folder: String) -> String {
        var app = App(
            started, credentials: "certificate: { file: \(started.pushCertificateFile) }",
            more: experiment.connections.map { ["connections: \($0)"] } ?? [])
        if path == .binary, let binary = started.binary { app.gateway = binary }
        return CoordinatorConfiguration(
            redis: "unix://\(redis.socket)", folder: folder, host: nil, workers: "\(experiment.workers)",
            apps: [app]
        ).text
    }

    private func jobs() -> [Job] {
        let tokens = experiment.tokens
        return stride(from: 0, to: tokens.count, by: Self.jobSize).map { start in
            let indices = start..<min(start + Self.jobSize, tokens.count)
            return Job(id: "j\(start)", tokens: indices.map(tokens.hex), payload: Payload.text)
        }
    }

    /// Pushes jobs like a producer that sends several RPUSH commands in one pipeline.
    private func push(_ jobs: [String], to socket: String) async throws {
        let client = try BlockingRedisClient(socket)
        for start in stride(from: 0, to: jobs.count, by: 20) {
            try client.pipeline(
                jobs[start..<min(start + 20, jobs.count)].map { ["RPUSH", "pushfarm:demo", $0] })
            await Task.yield()
        }
    }

    // MARK: The farm's own counts

    /// Returns the sum of the job records when all jobs are finished or the time limit is reached.
    private func finished(_ ids: [String], _ redis: RedisServer) async throws -> Tally.JobRecord {
        let client = try redis.client()
        var open = ids[...]
        let deadline = ContinuousClock.now + Self.timeout
        while !open.isEmpty, ContinuousClock.now < deadline {
            // Jobs finish in about the order of their start, so a round reads only the first 50 open jobs.
            let some = open.prefix(50)
            let states = try client.pipeline(some.map { ["HGET", Self.key($0), "state"] })
            let done = states.prefix { $0.text == "finished" }.count
            open = open.dropFirst(done)
            if done < some.count { try await Task.sleep(for: .milliseconds(20)) }
        }
        var sum = Tally.JobRecord(isFinished: open.isEmpty)
        for start in stride(from: 0, to: ids.count, by: 100) {
            let some = ids[start..<min(start + 100, ids.count)]
            for jobRecord in try client.pipeline(some.map { ["HGETALL", Self.key($0)] }) {
                sum.add(jobRecord.fields)
            }
        }
        return sum
    }

    private static func key(_ id: String) -> String { "{pushfarm:demo}:job:\(id)" }
}

extension Tally.JobRecord {
    fileprivate mutating func add(_ fields: [String: String]) {
        func number(_ name: String) -> Int { fields[name].flatMap { Int($0) } ?? 0 }
        accepted += number("accepted")
        delivered += number("delivered")
        failed += number("failed")
        expired += number("expired")
        cancelled += number("cancelled")
        maybeDuplicated += number("maybe_duplicated")
    }
}
