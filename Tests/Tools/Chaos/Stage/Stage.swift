package import ChaosChecker
package import EventLoop
package import FarmHarness
import Foundation
package import RandomTesting
import Transport

/// The stage of a scenario: Redis, a gateway, hosts, proxies, producers and an observer.
@Loop package final class Stage {
    package struct Options: Sendable {
        package var hosts = 1
        package var workers = 2
        /// Control commands that the simulator executes at its start.
        package var gateway = ["latency \(Stage.latency)ms", "streams 100"]
        /// The number of connections of each worker. With one connection the gateway's ledger shows which worker sends a shard.
        package var connections = 1
        package var redis: [String] = []
        /// Lines of the app's configuration.
        package var appLines: [String] = []
        package var farmLines: [String] = []
        /// Failpoints in the form that the environment variable `PUSHFARM_FAILPOINTS` takes.
        package var failpoints: [String] = []
        /// Arguments of the shell's `ulimit` for coordinators.
        package var limit: String?
        /// The error of the first host's clock in seconds, and the delay before the error starts.
        package var clock: [(after: Duration, seconds: Int)] = []
        /// Whether the app uses a certificate. A certificate needs no correct clock, and a provider token does.
        package var hasCertificate = false
        package var tokens = 4_000
        /// Further environment variables of the hosts.
        package var environment: [String: String] = [:]
        /// Whether the stage reads the job records every second.
        package var watches = true

        package init() {}
    }

    package let folder: TestFolder
    package let redis: RedisServer
    package let gateway: Gateway
    /// One proxy between each host and Redis.
    package private(set) var redisProxies: [FaultProxy] = []
    package let gatewayProxy: FaultProxy
    package private(set) var hosts: [Host] = []
    package let options: Options
    package let scale: Scale
    package var random: SplitMix
    package var expectation = Expectation(doubles: 0)
    package private(set) var faults: [FaultNote] = []
    /// Complaints of the scenario's own checks.
    package private(set) var complaints: [String] = []
    /// Whether quarantined batches are allowed at the end.
    package var mayPause = false

    var producers: [Producer] = []
    var campaigns: [CampaignNote] = []
    var merges: [MergeNote] = []
    var load: Load
    private(set) lazy var observer = Observer(app: "demo", redis: redis.socket) { [unowned self] in
        producers.flatMap(\.jobs) + campaigns.map(\.id)
    }
    private var flow: Task<Void, Never>?
    /// The number of commands run so far.
    private var commands = 0

    /// The most pushes that a worker of the chaos run may send before Redis knows their outcomes. This number is the
    /// minimum of a worker's window (`ConnectionPool.leastWindow`).
    package static let window = 512
    /// How long the gateway takes to respond, in milliseconds.
    package nonisolated static let latency = 20

    package init(_ options: Options, scale: Scale, seed: UInt64) async throws {
        self.options = options
        self.scale = scale
        random = SplitMix(seed: seed)
        expectation.hasOneSender = options.connections == 1
        // Clocks count whole milliseconds, and timers may fire a millisecond early. So a response may seem to come two
        // milliseconds too early.
        expectation.responseTime = Int64(Self.latency - 2)
        folder = try TestFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/failures", withIntermediateDirectories: true)
        redis = try await RedisServer(in: folder.path, options: options.redis)
        gateway = try await Gateway(in: folder.path, faults: options.gateway)
        let port = UInt16(gateway.started.gateway.split(separator: ":").last ?? "") ?? 0
        let anywhere = Endpoint.tcp(host: "127.0.0.1", port: 0)
        gatewayProxy = try await FaultProxy(anywhere, to: .tcp(host: "127.0.0.1", port: port))
        load = Load("j", tokens: options.tokens, seed: seed)
        producers = [Producer("shop", app: "demo", redis: redis.socket)]
        for number in 1...options.hosts { try await addHost("host\(number)") }
        try await ready()
        if options.watches { observer.start() }
    }

    isolated deinit {
        flow?.cancel()
        for host in hosts { host.destroy() }
        for proxy in redisProxies { proxy.close() }
        gatewayProxy.close()
    }

    // MARK: Hosts

    package func addHost(_ name: String) async throws {
        redisProxies.append(
            try await FaultProxy(.tcp(host: "127.0.0.1", port: 0), to: .unix(path: redis.socket)))
        try configure(name, workers: options.workers)
        let start = BootClock.milliseconds
        let jumps = options.clock.map { "\(start + UInt64($0.after / .milliseconds(1))):\($0.seconds)" }
        let environment = [
            "PUSHFARM_FAILPOINTS": options.failpoints.joined(separator: ","),
            "PUSHFARM_FAILPOINTS_FOLDER": options.failpoints.isEmpty ? "" : folder.path + "/failures",
            "PUSHFARM_FAILPOINTS_CLOCK": hosts.isEmpty ? jumps.joined(separator: ",") : "",
        ].filter { !$0.value.isEmpty }.merging(options.environment) { $1 }
        hosts.append(
            try Host(name, folder: folder.path, environment: environment, limit: options.limit))
    }

    package func configure(_ name: String, workers: Int) throws {
        let place = hosts.firstIndex { $0.name == name } ?? hosts.endIndex
        let started = gateway.started
        let credentials =
            options.hasCertificate
            ? "certificate: { file: \(started.pushCertificateFile) }"
            : "key: { file: \(started.keyFile), id: \(started.keyID), team: \(started.team) }"
        let lines =
            [
                "redis: redis://127.0.0.1:\(redisProxies[place].port)/0", "state_dir: \(folder.path)/\(name)",
                "host: \(name)", "workers: \(workers)",
            ] + options.farmLines + [
                "apps:", "  demo:", "    topic: \(started.bundle)",
                "    gateway: https://127.0.0.1:\(gatewayProxy.port)", "    ca_file: \(started.caFile)",
                "    \(credentials)", "    connections: \(options.connections)",
            ] + options.appLines.map { "    " + $0 }
        try folder.write(lines.joined(separator: "\n") + "\n", to: "\(name).yaml")
    }

    /// Waits until all workers of all hosts are running.
    package func ready() async throws {
        try await eventually("all workers live") {
            if !options.failpoints.isEmpty { try await restartTheDead() }
            // Other scenarios run on the same thread, so the stage polls slowly.
            try await pause(.milliseconds(50))
            return hosts.allSatisfy { $0.placement.count == options.workers }
        }
    }

    // MARK: Faults

    /// Records the fault that `body` injects. The fault ends when `body` returns.
    package func fault(_ what: String, _ body: () async throws -> Void) async rethrows {
        let start = WallTime.now
        try await body()
        faults.append(FaultNote(at: start, until: WallTime.now, what: what))
    }

    package func complain(_ text: String) { complaints.append(text) }

    /// The names of the mark files that failpoints have left so far; each file stands for one failure.
    package var failures: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path + "/failures")) ?? []).sorted()
    }

    package func pause(_ duration: Duration) async throws { try await Loop.sleep(for: duration) }

    /// Runs a `pushfarm` command with the first host's configuration.
    package func run(_ words: String...) async throws { try await run(words) }

    package func run(_ words: [String]) async throws {
        try await expectDone(words, begin(words))
    }

    func begin(_ words: [String]) throws -> Child {
        commands += 1
        return try Child(
            "command-\(commands)-\(words[0])", BuiltProgram.path,
            words + ["--config", folder.path + "/host1.yaml"],
            in: folder.path)
    }

    func expectDone(_ words: [String], _ command: Child) async throws {
        let end = try await command.wait()
        if end != .exited(0) { complain("pushfarm \(words): \(end) \(command.error) \(command.output)") }
    }

    // MARK: Load

    @discardableResult
    package func push(_ size: Int, within time: Duration? = nil) async -> Bool {
        let deadline = time.map { WallTime.now + Int64($0 / .milliseconds(1)) }
        let (job, promise) = load.job(size, deadline: deadline)
        return await producers[0].push(job, promise) == .accepted
    }

    /// Pushes jobs of random size at an interval.
    package func startFlow(every interval: Duration = .milliseconds(100), sizes: ClosedRange<Int> = 20...300)
    {
        flow = Loop.task { [self] in
            while !Task.isCancelled {
                await push(Int.random(in: sizes, using: &random))
                _ = try? await Loop.sleep(for: interval)
            }
        }
    }

    package func stopFlow() async {
        flow?.cancel()
        await flow?.value
        flow = nil
    }
}
