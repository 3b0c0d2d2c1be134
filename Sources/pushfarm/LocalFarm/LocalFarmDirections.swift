import EventLoop
import FarmConfiguration
import Foundation

/// How other commands and producers find a farm that runs in one terminal.
struct LocalFarmDirections: Sendable {
    /// Of the simulator: accepted by its gateway.
    static let goodToken = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"

    let configuration: Configuration
    let simulation: SimulatorStarted?
    /// Of the private Redis; nil: a Redis was configured.
    let redisPort: UInt16?

    var apps: [String] { configuration.apps.isEmpty ? ["demo"] : configuration.apps.map(\.name) }

    private var token: String { simulation == nil ? "TOKEN" : Self.goodToken }

    /// The file for other commands, when the farm itself was configured by none.
    var file: String { configuration.stateDirectory + "/" + Configuration.localFarmFile }

    /// Whether that file is needed, and can be written.
    var isFileNeeded: Bool { configuration.file == nil && simulation != nil }

    /// What it says: where Redis is, and the apps as they are at the simulator.
    var text: String {
        var lines = ["# Of a pushfarm up that runs: for the other commands."]
        lines.append("state_dir: \(Self.quoted(configuration.stateDirectory))")
        lines.append("shards: \(configuration.shards)")
        if redisPort != nil {
            lines.append(
                "redis: \(Self.quoted(RedisLocation(.unix(configuration.privateRedisSocket)).revealedURL()))")
            lines.append("redis_password_file: \(Self.quoted(configuration.privateRedisPasswordFile))")
        } else if let redis = configuration.redis {
            // No other user may read the file.
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

    /// A line for a shell in any folder.
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

    /// The same for a producer without this program; nil when Redis is not the farm's own.
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

    /// As YAML and JSON have a string.
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
