import ArgumentParser
import FarmConfiguration
import FarmLogging
import Logging

/// The options of every command. `pushfarm help` describes these options, and the help of a command refers to
/// `pushfarm help`.
struct CommonOptions: ParsableArguments, Sendable {
    static let title = "Global options"

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The configuration file, YAML or JSON. Default: ./pushfarm.yaml.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var config: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Overrides one setting of the configuration file or the environment, as in --set apps.demo.gateway=https://127.0.0.1:8443.",
            valueName: "key=value"))
    var assignments: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("The address of Redis, as in redis://127.0.0.1:6379/0.", valueName: "url"))
    var redis: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The folder for sockets, pid files and the private Redis.", valueName: "folder"),
        completion: .directory)
    var stateDir: String?

    @Flag(name: .long, help: "Prints JSON with stable fields.")
    var json = false

    /// All options as overrides. `--set` comes last and therefore wins.
    func overrides(_ more: [Override] = []) throws(ConfigurationError) -> [Override] {
        var overrides: [Override] = []
        if let redis { overrides.append(Override(key: "redis", text: redis, flag: "--redis")) }
        if let stateDir { overrides.append(Override(key: "state_dir", text: stateDir, flag: "--state-dir")) }
        overrides += more
        for assignment in assignments { overrides.append(try Override(assignment: assignment)) }
        return overrides
    }

    /// The same options as arguments for a child process.
    var arguments: [String] {
        (config.map { ["--config", $0] } ?? []) + (redis.map { ["--redis", $0] } ?? [])
            + (stateDir.map { ["--state-dir", $0] } ?? []) + assignments.flatMap { ["--set", $0] }
    }

    func load(
        _ more: [Override] = [], purpose: Configuration.Purpose = .client, findsLocalFarm: Bool = true
    ) throws(ConfigurationError) -> Configuration {
        try Configuration.load(
            path: config, environment: ProcessEnvironment.variables, overrides: try overrides(more),
            purpose: purpose, findsLocalFarm: findsLocalFarm)
    }
}

/// The options of commands that run as services.
struct ServiceOptions: ParsableArguments, Sendable {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The log level: trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel: String?

    @Option(name: .long, help: ArgumentHelp("The log format: text or json.", valueName: "format"))
    var logFormat: String?

    func overrides() -> [Override] {
        var overrides: [Override] = []
        if let logLevel { overrides.append(Override(key: "log.level", text: logLevel, flag: "--log-level")) }
        if let logFormat {
            overrides.append(Override(key: "log.format", text: logFormat, flag: "--log-format"))
        }
        return overrides
    }
}
