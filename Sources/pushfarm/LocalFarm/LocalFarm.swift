import EventLoop
import FarmConfiguration
import FarmLogging

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A whole farm on this machine, as child processes: Redis when none is configured, a simulator when asked, a
/// coordinator with its workers.
@Loop final class LocalFarm {
    struct Plan: Sendable {
        var configuration: Configuration
        /// The arguments that lead to that configuration: `--config`, `--set` and others.
        var arguments: [String]
        var simulates: Bool
        var simulatorArguments: [String] = []
        var logArguments: [String] = []
        /// Each process logs into a file in the state folder, not to our standard error.
        var logsToFiles = false
        /// What our environment configures does not count.
        var isSealed = false
        /// Producers of this machine reach the private Redis over a port, with a password.
        var hasRedisPort = false
    }

    /// Called when a process ends that was not told to.
    var onLoss: (@Loop (_ name: String, _ end: ChildProcess.End) -> Void)?
    private(set) var simulation: SimulatorStarted?
    /// Of the private Redis, on 127.0.0.1.
    private(set) var redisPort: UInt16?

    private let plan: Plan
    private var redis: ChildService?
    private var simulator: ChildService?
    private(set) var coordinator: ChildService?
    private var isStopping = false

    init(_ plan: Plan) {
        self.plan = plan
    }

    private var folder: String { plan.configuration.stateDirectory }

    /// Starts everything in order, each when the one before is there.
    func start() async throws(CommandFailure) {
        try StateFolder.make(folder)
        if plan.configuration.redis == nil { try await startRedis() }
        if plan.simulates { try await startSimulator() }
        coordinator = try start("coordinator", plan.arguments + simulationArguments + plan.logArguments)
    }

    /// Ends everything in the other order. Workers wait for the responses to pushes in flight.
    func stop() async {
        isStopping = true
        await coordinator?.stop(within: .seconds(40))
        await simulator?.stop(within: .seconds(5))
        await redis?.stop(within: .seconds(10))
    }

    /// Ends everything at once.
    func kill() {
        isStopping = true
        for service in [coordinator, simulator, redis] { service?.signal(SIGKILL) }
    }

    /// The end of a process's log, for an error message.
    func logTail(of name: String) -> String {
        plan.logsToFiles ? StateFolder.tail(logFile(of: name), lines: 5) : ""
    }

    private func startRedis() async throws(CommandFailure) {
        let socket = plan.configuration.privateRedisSocket
        guard !LocalSocket.accepts(socket) else {
            throw .failed("another farm runs in \(folder); end it, or name another folder with --state-dir")
        }
        let started: PrivateRedis
        if plan.hasRedisPort {
            started = try await PrivateRedis.start(
                in: folder, socket: socket, passwordFile: plan.configuration.privateRedisPasswordFile)
        } else {
            started = try await PrivateRedis.start(in: folder, socket: socket)
        }
        (redis, redisPort) = (started.service, started.port)
        watch(redis)
    }

    private func startSimulator() async throws(CommandFailure) {
        let answer = folder + "/simulator.json"
        unlink(answer)
        let output = try StateFolder.openLog(answer)
        defer { close(output) }
        let arguments = ["--json", "--state-dir", folder] + plan.simulatorArguments + plan.logArguments
        let service = try start("simulator", arguments, output: output)
        simulator = service
        for _ in 0..<500 {
            if let end = service.end {
                throw .failed("the simulator \(end.words)\n\(logTail(of: "simulator"))")
            }
            if let started = SimulatorStarted(line: StateFolder.tail(answer, lines: 1) + "\n") {
                simulation = started
                return
            }
            do { try await Loop.sleep(for: .milliseconds(20)) } catch { break }
        }
        throw .failed("the simulator did not come up within 10 s\n\(logTail(of: "simulator"))")
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
            onLoss?(service.role, end)
        }
    }

    /// Points every app at the simulator; without any there is one called demo.
    private var simulationArguments: [String] {
        guard let simulation else { return privateRedisArguments }
        let apps = plan.configuration.apps
        let values =
            apps.isEmpty
            ? simulation.settings(of: "demo") + ["apps.demo.topic=\(simulation.bundle)"]
            : apps.flatMap { app in
                app.binary == nil
                    ? simulation.settings(of: app.name) : simulation.binarySettings(of: app.name)
            }
        return privateRedisArguments + values.flatMap { ["--set", $0] }
    }

    private var privateRedisArguments: [String] {
        ["--state-dir", folder]
            + (redis == nil
                ? []
                : ["--redis", RedisLocation(.unix(plan.configuration.privateRedisSocket)).revealedURL()])
            + (redisPort == nil
                ? [] : ["--set", "redis_password_file=" + plan.configuration.privateRedisPasswordFile])
    }

    private func logFile(of role: String) -> String { folder + "/\(role).log" }
}
