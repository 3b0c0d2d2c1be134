import EventLoop
import FarmConfiguration
import FarmLogging
import Foundation

/// A whole farm whose processes are children of this process: a private Redis if none is configured, a simulator if
/// requested, and a coordinator with its workers.
@Loop final class LocalFarm {
    struct Plan: Sendable {
        var configuration: Configuration
        /// The arguments that select this configuration: `--config`, `--set` and others.
        var arguments: [String]
        var simulates: Bool
        var simulatorArguments: [String] = []
        var logArguments: [String] = []
        /// Whether each process logs into a file in the state folder instead of standard error.
        var logsToFiles = false
        /// Whether the processes start without the environment variables that configure Pushfarm.
        var isSealed = false
        /// Whether the private Redis also has a port with a password, for producers on this machine.
        var hasRedisPort = false
    }

    /// Signalled when the farm must end: on the operator's order, after a failure, or after an unexpected exit of a
    /// process.
    let end = EndSignal()
    /// The first failure.
    private(set) var failure: CommandFailure?
    /// Whether all processes were started.
    private(set) var hasStarted = false
    private(set) var simulation: SimulatorStarted?
    /// The port of the private Redis on 127.0.0.1.
    private(set) var redisPort: UInt16?

    private let plan: Plan
    private var redis: ChildService?
    private var simulator: ChildService?
    private(set) var coordinator: ChildService?
    private var isStopping = false

    init(_ plan: Plan) {
        self.plan = plan
        end.onRepeat = { [unowned self] in kill() }
    }

    private var folder: String { plan.configuration.stateDirectory }

    /// Starts the farm and waits for its workers. An error is stored in ``failure`` and ends the farm.
    /// - Parameters:
    ///   - limit: how long to wait for the workers.
    ///   - body: called with a connection and the number of workers, or with nil if the workers were not ready in time.
    func start(
        within limit: Duration, _ body: @Loop (FarmClient, Int?) async throws(CommandFailure) -> Void
    ) async {
        do throws(CommandFailure) {
            try await startProcesses()
            hasStarted = true
            if end.isGiven { return }
            let client = try await FarmClient.connect(plan.configuration, within: .seconds(60))
            defer { client.close() }
            let workers = try await readyWorkers(client, within: limit)
            if !end.isGiven { try await body(client, workers) }
        } catch {
            failure = failure ?? error
            end.signal()
        }
    }

    /// Waits until the host's workers and intake are ready. Returns the number of workers; nil if they are not ready in
    /// time.
    private func readyWorkers(
        _ client: FarmClient, within limit: Duration
    ) async throws(CommandFailure) -> Int? {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline, !end.isGiven {
            let ready = try await client.hosts().filter { host in
                host.state == "running" && host.intake?.state == "ready"
                    && host.workers.allSatisfy { $0.state == "ready" }
            }
            let workers = ready.reduce(0) { $0 + $1.workers.count }
            if workers > 0 { return workers }
            do { try await Loop.sleep(for: .milliseconds(50)) } catch { break }
        }
        return nil
    }

    /// Starts the processes one after the other: Redis, the simulator, the coordinator. The next process starts only
    /// when Redis or the simulator is ready.
    private func startProcesses() async throws(CommandFailure) {
        try StateFolder.make(folder)
        if plan.configuration.redis == nil { try await startRedis() }
        if plan.simulates { try await startSimulator() }
        coordinator = try start(
            "coordinator", plan.arguments + redisArguments + simulationArguments + plan.logArguments)
    }

    /// Stops the processes in reverse order, first the coordinator. Its workers still wait for the responses to pushes
    /// in flight.
    func stop() async {
        isStopping = true
        await coordinator?.stop(within: .seconds(40))
        await simulator?.stop(within: .seconds(5))
        await redis?.stop(within: .seconds(10))
    }

    /// Kills all processes at once.
    private func kill() {
        isStopping = true
        for service in [coordinator, simulator, redis] { service?.signal(SIGKILL) }
    }

    /// The last lines of a process's log, for an error message.
    func logTail(of name: String) -> String {
        plan.logsToFiles ? StateFolder.tail(logFile(of: name), lines: 5) : ""
    }

    private func startRedis() async throws(CommandFailure) {
        let socket = plan.configuration.privateRedisSocket
        guard !LocalSocket.accepts(socket) else {
            throw .failed(
                "another farm runs in the folder \(folder); stop that farm, or name another folder with --state-dir"
            )
        }
        let passwordFile = plan.hasRedisPort ? plan.configuration.privateRedisPasswordFile : nil
        (redis, redisPort) = try await PrivateRedis.start(in: folder, socket: socket, passwordFile)
        watch(redis)
    }

    private func startSimulator() async throws(CommandFailure) {
        let outputPath = folder + "/simulator.json"
        unlink(outputPath)
        let output = try StateFolder.openLog(outputPath)
        defer { close(output) }
        let arguments = ["--json", "--state-dir", folder] + plan.simulatorArguments + plan.logArguments
        let service = try start("simulator", arguments, output: output)
        simulator = service
        let isReady = await service.isReady {
            simulation = SimulatorStarted(line: StateFolder.tail(outputPath, lines: 1) + "\n")
            return simulation != nil
        }
        if isReady { return }
        if let end = service.end { throw .failed("the simulator \(end.words)\n\(logTail(of: "simulator"))") }
        throw .failed("the simulator did not start within 10 s\n\(logTail(of: "simulator"))")
    }

    private func start(
        _ role: String, _ arguments: [String], output: Int32? = nil
    ) throws(CommandFailure) -> ChildService {
        let log = plan.logsToFiles ? try StateFolder.openLog(logFile(of: role)) : Terminal.standardError
        defer { if plan.logsToFiles { close(log) } }
        let service = try ChildService(
            "pushfarm", role: role, program: Executable.own, arguments: [role] + arguments,
            environment: (plan.isSealed ? ProcessEnvironment.withoutOurs : ProcessEnvironment.all)
                + [ProcessEnvironment.supervised], output: output ?? log, log: log)
        watch(service)
        return service
    }

    private func watch(_ service: ChildService?) {
        service?.onEnd = { [weak self] service in
            guard let self, !isStopping, let end = service.end else { return }
            let tail = logTail(of: service.role)
            failure =
                failure
                ?? CommandFailure(
                    status: Self.status(of: end),
                    message: "the \(service.role) \(end.words)" + (tail.isEmpty ? "" : "\n" + tail))
            self.end.signal()
        }
    }

    /// The exit status of `pushfarm up` if a child has ended unexpectedly: the child's exit status, if it is a status
    /// of Pushfarm and not 0.
    private static func status(of end: ChildProcess.End) -> ExitStatus {
        guard case .exited(let status) = end else { return .failed }
        return ExitStatus(rawValue: status).map { $0 == .done ? .failed : $0 } ?? .failed
    }

    /// The settings with which all apps use the simulator as their gateway. If no app is configured, the settings
    /// create the app `demo`.
    private var simulationArguments: [String] {
        guard let simulation else { return [] }
        let apps = plan.configuration.apps
        let values =
            apps.isEmpty
            ? simulation.settings(of: "demo") + ["apps.demo.topic=\(simulation.bundle)"]
            : apps.flatMap { app in
                app.binary == nil
                    ? simulation.settings(of: app.name) : simulation.binarySettings(of: app.name)
            }
        return values.flatMap { ["--set", $0] }
    }

    private var redisArguments: [String] {
        var arguments = ["--state-dir", folder]
        if redis != nil {
            let location = RedisLocation(.unix(plan.configuration.privateRedisSocket))
            arguments += ["--redis", location.revealedURL()]
        }
        if redisPort != nil {
            arguments += ["--set", "redis_password_file=" + plan.configuration.privateRedisPasswordFile]
        }
        return arguments
    }

    private func logFile(of role: String) -> String { folder + "/\(role).log" }
}
