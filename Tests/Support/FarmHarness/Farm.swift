import Foundation

/// A whole farm of real processes for one test or measurement: Redis, a simulator and coordinators with their workers.
///
/// If a test names no hosts, the farm has one host, "here", which starts at once and keeps its files in the farm's folder. If a
/// test names hosts, the test must start them. Each named host has its own folder and, in a network, its own address.
package final class Farm {
    package let folder: TestFolder
    package let network: Network?
    package let redis: RedisServer
    package let gateway: Gateway
    package let options: Options
    /// The names of the hosts. Nil means one host, which starts at once.
    package let hosts: [String]?
    private var coordinators: [String: Child] = [:]
    private var commands = 0

    /// The name of Redis's machine in a network.
    package static let redisMachine = "redis"
    package static let gatewayMachine = "gateway"
    private static let redisPort = 6379
    /// The name of the only host.
    private static let here = "here"

    package init(hosts: [String]? = nil, _ options: Options = Options()) async throws {
        (self.hosts, self.options) = (hosts, options)
        folder = try TestFolder()
        network =
            options.isSpread
            ? try Network([Self.redisMachine, Self.gatewayMachine] + (hosts ?? [Self.here])) : nil
        redis = try await Self.startRedis(options, folder, network)
        let address = network?.address(of: Self.gatewayMachine)
        gateway = try await Gateway(
            in: folder.path, faults: options.faults,
            options: (address.map { ["--listen", $0, "--server-name", $0] } ?? []) + options.simulatorOptions,
            prefix: network?.prefix(Self.gatewayMachine) ?? [], hasLedger: options.hasLedger)
        if hosts == nil { try start(Self.here) }
    }

    deinit {
        // Coordinators end before the network, because a namespace exists as long as a process runs in it.
        for coordinator in coordinators.values { coordinator.destroy() }
        gateway.process.destroy()
        redis.process.destroy()
    }

    private static func startRedis(
        _ options: Options, _ folder: TestFolder, _ network: Network?
    ) async throws -> RedisServer {
        if let password = options.usersPassword {
            let file = try folder.write(RedisUsers.text(password), to: "users.acl")
            return try await RedisServer(
                in: folder.path, password: password, user: "operator", options: ["--aclfile", file])
        }
        let listening = network.map {
            ["--bind", $0.address(of: redisMachine), "--port", "\(redisPort)", "--protected-mode", "no"]
        }
        return try await RedisServer(
            in: folder.path, password: options.redisPassword,
            options: (listening ?? []) + options.redisOptions,
            prefix: network?.prefix(redisMachine) ?? [])
    }

    // MARK: Hosts

    /// Writes a host's configuration and starts a coordinator, the host's first coordinator or a later one.
    ///
    /// - Parameter name: the host's name in the configuration, if it differs from `host`.
    @discardableResult
    package func start(
        _ host: String, as name: String? = nil, workers: Int? = nil, logFile: String? = nil,
        environment: [String: String] = [:]
    ) throws -> Child {
        var configuration = try configuration(of: host, apps: apps)
        if let name { configuration.host = name }
        if let workers { configuration.workers = "\(workers)" }
        if let logFile { configuration.lines.insert("log: { file: \(logFile) }", at: 0) }
        try write(configuration, of: host)
        return try startCoordinator(of: host, environment: options.environment.merging(environment) { $1 })
    }

    /// Starts another coordinator with the current configuration after the first coordinator has ended.
    ///
    /// - Parameter environment: the coordinator's environment; nil for the environment in the farm's options.
    package func restartCoordinator(environment: [String: String]? = nil) throws {
        _ = try startCoordinator(of: Self.here, environment: environment ?? options.environment)
    }

    private func startCoordinator(of host: String, environment: [String: String]) throws -> Child {
        let child = try Child(
            "coordinator", BuiltProgram.path, ["coordinator", "--config", configurationFile(of: host)],
            environment: environment, in: home(of: host),
            prefix: options.prefix + (network?.prefix(host) ?? []))
        coordinators[host] = child
        return child
    }

    /// The only host's coordinator.
    package var coordinator: Child { coordinator(Self.here) }

    package func coordinator(_ host: String) -> Child {
        guard let child = coordinators[host] else { preconditionFailure("\(host) was not started") }
        return child
    }

    package func log(_ host: String) -> String { coordinator(host).error }

    /// Sends a signal to all processes of a host, as if its machine lost power (SIGKILL) or stood still (SIGSTOP).
    package func signal(_ host: String, _ number: Int32) { _ = kill(-coordinator(host).pid, number) }

    // MARK: Configuration

    private func home(of host: String) -> String {
        hosts == nil ? folder.path : folder.path + "/" + host
    }

    package func configurationFile(of host: String = "here") -> String {
        home(of: host) + "/pushfarm.yaml"
    }

    /// The text of a host's configuration file.
    package func configuration(_ host: String) throws -> String {
        try String(contentsOfFile: configurationFile(of: host), encoding: .utf8)
    }

    /// Replaces the apps in the only host's configuration.
    package func write(apps: [App]) throws {
        try write(configuration(of: Self.here, apps: apps), of: Self.here)
    }

    private func write(_ configuration: CoordinatorConfiguration, of host: String) throws {
        try FileManager.default.createDirectory(atPath: home(of: host), withIntermediateDirectories: true)
        try configuration.text.write(toFile: configurationFile(of: host), atomically: true, encoding: .utf8)
    }

    private func configuration(of host: String, apps: [App]) throws -> CoordinatorConfiguration {
        CoordinatorConfiguration(
            redis: try redisAddress(), folder: home(of: host), host: host, workers: options.workersText,
            apps: apps, lines: options.lines)
    }

    private var apps: [App] {
        options.apps?(gateway.started, folder)
            ?? options.appNames.map { App(gateway.started, name: $0, more: options.appLines) }
    }

    /// The value of the configuration key `redis:`. If the password is in a file, the value has several lines.
    private func redisAddress() throws -> String {
        if let network { return "redis://\(network.address(of: Self.redisMachine)):\(Self.redisPort)/0" }
        if options.passwordInFile, let password = options.redisPassword {
            let file = try folder.write(password + "\n", to: "redis-password")
            return "unix://\(redis.socket)\nredis_password_file: \(file)"
        }
        let user =
            options.usersPassword.map { "farm:\($0)@" } ?? options.redisPassword.map { ":\($0)@" } ?? ""
        return "unix://" + user + redis.socket
    }

    // MARK: Commands

    package struct Result {
        package let status: Int32
        package let output: String
        package let error: String

        package init(status: Int32, output: String, error: String) {
            (self.status, self.output, self.error) = (status, output, error)
        }
    }

    /// Runs a `pushfarm` command with the only host's configuration until the command ends.
    package func run(_ arguments: String...) async throws -> Result {
        try await run(
            arguments + ["--config", configurationFile()], environment: options.environment)
    }

    /// Runs a `pushfarm` command on a host until the command ends.
    package func run(
        _ arguments: [String], on host: String, within limit: Duration = .seconds(100)
    ) async throws -> Result {
        try await run(
            arguments + ["--config", configurationFile(of: host)], in: home(of: host),
            prefix: network?.prefix(host) ?? [], within: limit)
    }

    package func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Result {
        try await run(arguments, environment: environment, in: folder.path, prefix: [])
    }

    private func run(
        _ arguments: [String], environment: [String: String] = [:], in home: String, prefix: [String],
        within limit: Duration = .seconds(100)
    ) async throws -> Result {
        commands += 1
        let child = try Child(
            "command-\(commands)", BuiltProgram.path, arguments, environment: environment, in: home,
            prefix: prefix)
        guard case .exited(let status) = try await child.wait(within: limit) else {
            throw Overdue(description: "\(arguments) was killed: \(child.error)")
        }
        return Result(status: status, output: child.output, error: child.error)
    }
}
