import EventLoop
import FarmConfiguration
import Foundation

/// What a user needs for a farm that `pushfarm up` runs: a file with settings for other commands, and command lines
/// that submit a push.
struct LocalFarmDirections: Sendable {
    /// A token that the simulator accepts.
    static let goodToken = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"

    let configuration: Configuration
    let simulation: SimulatorStarted?
    /// The port of the private Redis, or nil when another Redis is configured.
    let redisPort: UInt16?

    var apps: [String] { configuration.apps.isEmpty ? ["demo"] : configuration.apps.map(\.name) }

    private var token: String { simulation == nil ? "TOKEN" : Self.goodToken }

    /// The path of the configuration file that other commands read if the farm has no configuration file of its own.
    var file: String { configuration.stateDirectory + "/" + Configuration.localFarmFile }

    /// Whether the file must be written: the farm has no configuration file of its own, and the settings for the
    /// simulator are known.
    var isFileNeeded: Bool { configuration.file == nil && simulation != nil }

    /// The content of the file: the address of Redis, and the apps with their settings for the simulator.
    var text: String {
        var lines = ["# The settings of a running pushfarm up, for other commands."]
        lines.append("state_dir: \(Self.quoted(configuration.stateDirectory))")
        lines.append("shards: \(configuration.shards)")
        if redisPort != nil {
            lines.append(
                "redis: \(Self.quoted(RedisLocation(.unix(configuration.privateRedisSocket)).revealedURL()))")
            lines.append("redis_password_file: \(Self.quoted(configuration.privateRedisPasswordFile))")
        } else if let redis = configuration.redis {
            // The URL contains the password, so the file must not be readable for other users.
            lines.append("redis: \(Self.quoted(redis.revealedURL()))")
        }
        lines.append("apps:")
        for name in apps {
            guard let simulation else { break }
            let app = configuration.app(named: name)
            lines += [
                "  \(Self.quoted(name)):", "    topic: \(Self.quoted(app?.topic ?? simulation.bundle))",
                "    ca_file: \(Self.quoted(simulation.caFile))",
            ]
            if app?.binary != nil {
                lines += [
                    "    gateway: \(Self.quoted(simulation.binary ?? ""))",
                    "    certificate: { file: \(Self.quoted(simulation.certificateFile)) }",
                ]
            } else {
                lines += [
                    "    gateway: \(Self.quoted(simulation.gateway))", "    key:",
                    "      file: \(Self.quoted(simulation.keyFile))",
                    "      id: \(Self.quoted(simulation.keyID))",
                    "      team: \(Self.quoted(simulation.team))",
                ]
            }
            if let app {
                lines += ["    max_tokens: \(app.maxTokens)", "    max_job_bytes: \(app.maxJobBytes)"]
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A command line that submits a push and works in any folder.
    var push: String {
        var words = [Executable.own, "push"]
        if let file = configuration.file { words += ["--config", Self.absolute(file)] }
        if configuration.file == nil || redisPort != nil {
            words += ["--state-dir", configuration.stateDirectory]
        }
        if apps.count > 1 { words += ["--app", apps[0]] }
        words += ["--alert", "Hello", "--wait", "--token", token]
        return words.map(Self.shellWord).joined(separator: " ")
    }

    /// A `redis-cli` command line that submits a push without this program; nil if this farm does not have a private
    /// Redis.
    var redisCommand: String? {
        guard let redisPort else { return nil }
        let job = #"{"tokens":["\#(token)"],"payload":{"aps":{"alert":"Hello"}}}"#
        return
            "REDISCLI_AUTH=$(cat \(Self.shellWord(configuration.privateRedisPasswordFile))) redis-cli -p \(redisPort) "
            + "RPUSH \(Self.shellWord("pushfarm:" + apps[0])) \(Self.shellWord(job))"
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// The text as a string of YAML and JSON.
    private static func quoted(_ text: String) -> String { JSONValue.string(text).description }

    private static func shellWord(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || "-_./:=".utf8.contains($0)
        }
        return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
    }
}

extension LocalFarmDirections {
    @Loop init(to farm: LocalFarm, _ configuration: Configuration) {
        self.init(configuration: configuration, simulation: farm.simulation, redisPort: farm.redisPort)
    }
}
