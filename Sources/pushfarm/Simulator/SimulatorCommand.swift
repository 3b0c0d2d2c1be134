import APNs
import ArgumentParser
import BinaryProtocol
import DeviceSimulation
import EventLoop
import FarmConfiguration
import FarmLogging
import Logging
import OpenSSL
import Simulator

struct SimulatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulator",
        abstract: "Runs the simulator in the foreground.",
        discussion: """
            The simulator behaves like the gateway of Apple, but delivers no push. It
            creates a certificate authority, certificates and a signing key in the folder
            that --folder names, so that no Apple account is needed. The page
            docs/simulator.md describes the simulator.

            Example:
              pushfarm simulator --port 8443 --ledger pushes.jsonl
              pushfarm simulator --fault "goaway 500" --fault "latency 20ms"
              pushfarm simulator --binary-port 2195 --feedback-port 2196
              pushfarm simulator --devices deploy/devices.yaml --done-to done.jsonl
              pushfarm simulator control counters
            """,
        subcommands: [SimulatorControlCommand.self])

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var service: ServiceOptions

    @Option(
        help: ArgumentHelp(
            "An address to listen on; repeatable; all addresses use the same ports. Default: 127.0.0.1.",
            valueName: "address"))
    var listen: [String] = []

    @Option(reads: ArgumentHelp("The port; with 0, the system chooses one.", valueName: "port"))
    var port: UInt16 = 8443

    @Option(
        reads: ArgumentHelp(
            "The port of the binary interface; with 0, the system chooses one. Default: no binary interface.",
            valueName: "port"))
    var binaryPort: UInt16?

    @Option(
        reads: ArgumentHelp(
            "The port of the feedback service; with 0, the system chooses one. Default: no feedback service.",
            valueName: "port"))
    var feedbackPort: UInt16?

    @Option(
        name: .customLong("token-length"),
        reads: ArgumentHelp(
            "A token size, in bytes, that the binary interface accepts; repeatable. Default: 32.",
            valueName: "n")
    )
    var tokenLengths: [Int] = []

    @Option(
        help: ArgumentHelp(
            "The folder of the simulator's credentials. Default: the folder \"simulator\" in the state folder.",
            valueName: "folder"))
    var folder: String?

    @Option(
        name: .customLong("server-name"),
        help: ArgumentHelp("Another host name in the server certificate.", valueName: "name"))
    var serverNames: [String] = []

    @Option(help: ArgumentHelp("The bundle id of the generated client certificate.", valueName: "id"))
    var bundle: String?

    @Option(help: ArgumentHelp("The environment: production or sandbox.", valueName: "name"))
    var environment: String?

    @Flag(help: "Speaks HTTP/2 without TLS; clients must start with HTTP/2 (prior knowledge).")
    var plain = false

    @Option(help: ArgumentHelp("The newest TLS version: 1.3 or 1.2.", valueName: "version"))
    var newestTLS: String?

    @Flag(help: "Accepts pushes without credentials, for load generators.")
    var open = false

    @Flag(help: "Does not ask clients for a certificate.")
    var noClientCertificates = false

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "Another signing key whose provider tokens are accepted.", valueName: "id:team:file"))
    var keys: [String] = []

    @Option(
        name: .customLong("key-topics"),
        help: ArgumentHelp(
            "Restricts a signing key to these topics. Keys of other teams cannot push to them.",
            valueName: "id:topic,topic"))
    var keyTopics: [String] = []

    @Option(
        name: .customLong("key-environment"),
        help: ArgumentHelp("Restricts a signing key to this environment.", valueName: "id:name"))
    var keyEnvironments: [String] = []

    @Option(reads: ArgumentHelp("The lifetime of a provider token.", valueName: "duration"))
    var tokenLifetime: DurationOption?

    @Option(
        reads: ArgumentHelp(
            "The shortest time between two changes of a connection's provider token.", valueName: "duration"))
    var tokenUpdateInterval: DurationOption?

    @Option(reads: ArgumentHelp("The number of open streams that a connection may have.", valueName: "n"))
    var streams: UInt32?

    @Flag(help: "Allows all streams from the start, not only one until the first valid provider token.")
    var noFirstStreamLimit = false

    @Flag(help: "Does not lower the stream limit after a response with the reason ExpiredProviderToken.")
    var noLimitAfterExpiredToken = false

    @Flag(help: "After a refused push, allows a connection only one stream, until a push is accepted.")
    var limitDrops = false

    @Option(
        reads: ArgumentHelp(
            "Refuses pushes to a device token above this number of pushes per second.",
            valueName: "n"))
    var tokenRate: Int?

    @Option(
        reads: ArgumentHelp(
            "The idle time after which the simulator sends GOAWAY on a connection.", valueName: "duration"))
    var idleTimeout: DurationOption?

    @Option(
        reads: ArgumentHelp(
            "Sends GOAWAY on a connection after this number of pushes that were refused with status 400.",
            valueName: "n"))
    var refusals: Int?

    @Option(help: ArgumentHelp("A file of device tokens and their states.", valueName: "file"))
    var tokens: String?

    @Option(
        name: .customLong("fault"),
        help: ArgumentHelp("A control command to run at the start.", valueName: "line"))
    var faults: [String] = []

    @Option(reads: ArgumentHelp("The seed of all random choices, except generated ids.", valueName: "n"))
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "The file to which the simulator writes a JSON line for each request.", valueName: "file"))
    var ledger: String?

    @Option(
        help: ArgumentHelp(
            "A file with a model of the devices that receive accepted pushes, such as deploy/devices.yaml.",
            valueName: "file"),
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var devices: String?

    @Option(
        name: .customLong("done-to"),
        help: ArgumentHelp(
            "The file to which the simulator writes a JSON line for each device that has an edition, or \"-\" for standard output.",
            valueName: "file"))
    var doneTo: String?

    @Flag(help: "Counts different tokens and repeated pushes, which takes memory for each of them.")
    var countDistinct = false

    @Option(
        help: ArgumentHelp(
            "The path of the control socket. Default: control.sock in the simulator's folder.",
            valueName: "path"))
    var control: String?

    func validate() throws {
        if let tokenRate, tokenRate < 1 { throw ValidationError("--token-rate must be at least 1.") }
        if let refusals, refusals < 1 { throw ValidationError("--refusals must be at least 1.") }
        if doneTo != nil, devices == nil { throw ValidationError("--done-to needs --devices.") }
    }

    func run() throws {
        let configuration = try common.load(service.overrides(), findsLocalFarm: false)
        let options = try options(configuration)
        FarmLog.bootstrap(level: configuration.log.level, format: configuration.log.format)
        let console = Console(json: common.json)
        ProcessLimits.apply()
        try Loop.run { @Loop in try await SimulatorService(options: options, console: console).run() }
    }

    private func options(_ configuration: Configuration) throws -> SimulatorOptions {
        var options = SimulatorOptions()
        if !listen.isEmpty { options.hosts = listen }
        options.port = port
        options.binaryPort = binaryPort
        options.feedbackPort = feedbackPort
        guard tokenLengths.allSatisfy((1...BinaryCommand.longestToken).contains) else {
            throw ValidationError("--token-length must be from 1 to \(BinaryCommand.longestToken).")
        }
        if !tokenLengths.isEmpty { options.tokenLengths = tokenLengths }
        options.usesTLS = !plain
        switch newestTLS {
        case nil, "1.3": break
        case "1.2": options.newestTLS = .tls12
        default: throw ValidationError("--newest-tls must be 1.3 or 1.2.")
        }
        options.folder = folder ?? configuration.stateDirectory + "/simulator"
        options.serverNames += serverNames
        if let bundle { options.bundle = bundle }
        if let environment {
            guard let known = SimulatorOptions.Environment(rawValue: environment) else {
                throw ValidationError("--environment must be production or sandbox.")
            }
            options.environment = known
        }
        options.authentication = open ? .none : .required
        options.asksForCertificates = !noClientCertificates
        options.keys = try keys.map(Self.key)
        for text in keyTopics {
            let (id, topics) = try Self.ofKey(text, option: "--key-topics ID:TOPIC,TOPIC")
            options.keyTopics[id, default: []] += topics.split(separator: ",").map(String.init)
        }
        for text in keyEnvironments {
            let (id, name) = try Self.ofKey(text, option: "--key-environment ID:NAME")
            guard let known = SimulatorOptions.Environment(rawValue: name) else {
                throw ValidationError(
                    "--key-environment needs production or sandbox, and \(name) is neither.")
            }
            options.keyEnvironments[id] = known
        }
        if let tokenLifetime { options.tokenLifetime = try Self.seconds(tokenLifetime, "--token-lifetime") }
        if let tokenUpdateInterval {
            options.tokenUpdateInterval = try Self.seconds(tokenUpdateInterval, "--token-update-interval")
        }
        if let streams { options.streams = streams }
        options.firstStreamAlone = !noFirstStreamLimit
        options.limitDropsAfterExpiredToken = !noFirstStreamLimit && !noLimitAfterExpiredToken
        options.limitDropsAfterRefusal = limitDrops
        options.pushesPerTokenAndSecond = tokenRate
        options.idleTimeout = idleTimeout?.duration
        options.refusalsPerConnection = refusals
        options.tokenFile = tokens
        options.faults = faults
        if let seed { options.seed = seed }
        options.ledger = ledger
        options.countsDistinct = countDistinct
        if let devices {
            options.devices = try DevicePopulation.load(path: devices)
            options.devices?.seed = options.seed
            options.doneFile = doneTo
        }
        options.controlSocket = control ?? options.folder + "/control.sock"
        return options
    }

    private static func seconds(_ time: DurationOption, _ option: String) throws -> Int64 {
        guard let seconds = time.wholeSeconds else {
            throw ValidationError("\(option) must be a whole number of seconds.")
        }
        return seconds
    }

    /// Parses `id:team:file`. The file's path may contain colons.
    private static func key(_ text: String) throws -> SimulatorOptions.Key {
        let parts = text.split(separator: ":", maxSplits: 2).map(String.init)
        guard parts.count == 3 else { throw ValidationError("--key must have the form ID:TEAM:FILE.") }
        return SimulatorOptions.Key(id: parts[0], team: parts[1], file: parts[2])
    }

    private static func ofKey(_ text: String, option: String) throws -> (id: String, value: String) {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw ValidationError("\(text): use \(option).") }
        return (parts[0], parts[1])
    }
}
