import BenchKit
import FarmHarness
import Foundation
import RedisProtocol

/// The farm of one measurement: Redis, coordinator, intake and workers, with a simulator as the gateway.
final class BenchFarm {
    struct Options {
        var workers = 2
        /// Lines of the app's configuration.
        var app: [String] = []
        /// The file for the farm's log.
        var logFile: String?
        var program = BuiltProgram.path
        /// The first words of the coordinator's command line.
        var prefix: [String] = []
    }

    /// The processor seconds of each process.
    struct Use {
        var workers = 0.0
        var coordinator = 0.0
        var intake = 0.0
        var redis = 0.0
        var gateway = 0.0
        /// The bench program itself.
        var bench = 0.0

        var all: Double { workers + coordinator + intake + redis + gateway + bench }

        static func - (left: Use, right: Use) -> Use {
            Use(
                workers: left.workers - right.workers, coordinator: left.coordinator - right.coordinator,
                intake: left.intake - right.intake, redis: left.redis - right.redis,
                gateway: left.gateway - right.gateway, bench: left.bench - right.bench)
        }
    }

    let gateway: Gateway
    let redis: RedisServer
    let client: BlockingRedisClient
    let processes: FarmProcesses
    /// The path of the farm's configuration file.
    let configuration: String
    private let coordinator: Child
    private let options: Options

    var coordinatorID: pid_t { coordinator.pid }

    static func start(_ options: Options, _ gateway: Gateway, in folder: String) async throws -> BenchFarm {
        // docs/redis.md advises these options.
        let redis = try await RedisServer(
            in: folder,
            options: ["--auto-aof-rewrite-min-size", "256mb", "--hash-max-listpack-value", "1024"])
        let app = App(gateway.started, more: options.app)
        let text = CoordinatorConfiguration(
            redis: "unix://\(redis.socket)", folder: folder, host: nil, workers: "\(options.workers)",
            apps: [app]
        ).text
        let file = folder + "/pushfarm.yaml"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let coordinator = try Child(
            "coordinator", options.program, ["coordinator", "--config", file], in: folder,
            prefix: options.prefix)
        let processes = try await FarmProcesses.ready(
            coordinator, configuration: file, workers: options.workers, in: folder)
        return try BenchFarm(gateway, redis, coordinator, processes, configuration: file, options)
    }

    private init(
        _ gateway: Gateway, _ redis: RedisServer, _ coordinator: Child, _ processes: FarmProcesses,
        configuration: String, _ options: Options
    ) throws {
        self.configuration = configuration
        (self.gateway, self.redis, self.coordinator) = (gateway, redis, coordinator)
        (self.processes, self.options) = (processes, options)
        client = try redis.client()
    }

    func use() -> Use {
        Use(
            workers: processes.workers.reduce(0) { $0 + ProcessTime.seconds(of: $1) },
            coordinator: ProcessTime.seconds(of: coordinator.pid),
            intake: ProcessTime.seconds(of: processes.intake),
            redis: ProcessTime.seconds(of: redis.process.pid),
            gateway: ProcessTime.seconds(of: gateway.process.pid),
            bench: ProcessTime.seconds(of: getpid()))
    }

    func push(_ jobs: PreparedJobs) throws {
        for piece in jobs.pieces { try client.send(prepared: piece.bytes, replies: piece.commands) }
    }

    /// Redis's time in milliseconds since 1970.
    func redisTime() throws -> Double {
        let words = try client.run("TIME").array ?? []
        let parts = words.compactMap { $0.text.flatMap { Double($0) } }
        guard parts.count == 2 else { throw Overdue(description: "Redis does not report its time") }
        return parts[0] * 1_000 + parts[1] / 1_000
    }

    /// Waits until the gateway has accepted this number of pushes and the farm has no open pushes.
    func settled(_ accepted: Int, within limit: Duration = .seconds(300)) async throws {
        let deadline = ContinuousClock.now + limit
        func pause(_ duration: Duration) async throws {
            guard ContinuousClock.now < deadline, !coordinator.hasEnded else {
                throw Overdue(description: "not settled in time: \(coordinator.error.suffix(2_000))")
            }
            try await Task.sleep(for: duration)
        }
        while try gateway.counter("accepted") < accepted { try await pause(.milliseconds(50)) }
        while try open() > 0 { try await pause(.milliseconds(5)) }
    }

    /// The number of open pushes in batches and in the results stream.
    func open() throws -> Int {
        Int(try client.run("HGET", "{pushfarm:demo}:load", "open").text ?? "") ?? 0
    }

    func jobRecord(of ids: [String]) throws -> BenchJobRecord {
        var jobRecord = BenchJobRecord()
        let fields = ["state", "accepted", "delivered", "maybe_duplicated", "finished_at"]
        for start in stride(from: 0, to: ids.count, by: 500) {
            let some = ids[start..<min(start + 500, ids.count)]
            let replies = try client.pipeline(some.map { ["HMGET", "{pushfarm:demo}:job:\($0)"] + fields })
            for reply in replies { jobRecord.add(reply.array?.map { $0.text ?? "" } ?? []) }
        }
        return jobRecord
    }

    /// Shuts the farm down in order.
    ///
    /// - Returns: complaints about the shutdown.
    func end() async throws -> [String] {
        coordinator.signal(SIGTERM)
        let end = try await coordinator.wait()
        if let file = options.logFile {
            try? coordinator.error.write(toFile: file, atomically: true, encoding: .utf8)
        }
        var broken: [String] = []
        if end != .exited(0) { broken.append("the coordinator: \(end)") }
        if coordinator.error.contains("killed(signal") { broken.append("a process of the farm crashed") }
        return broken
    }
}
