import ArgumentParser
import ControlChannel
import EventLoop
import PushModel

/// The options of commands to coordinators.
struct OperatorOptions: ParsableArguments, Sendable {
    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    @Flag(inversion: .prefixedNo, help: "Waits until every host has carried out the command.")
    var wait = true

    @Option(reads: ArgumentHelp("The longest time to wait for the hosts' replies.", valueName: "duration"))
    var timeout: DurationOption?

    @Flag(help: "Uses the control socket of this machine's coordinator instead of Redis.")
    var local = false

    func validate() throws {
        try timeout?.check("--timeout", 0.001...86_400)
    }
}

/// The target of a command: `HOST`, or `HOST/N` for one of its workers.
struct OperatorTarget: ExpressibleByArgument, Sendable {
    let text: String
    let host: String
    let worker: Int?

    init?(argument: String) {
        text = argument
        guard let slash = argument.lastIndex(of: "/"),
            let number = Int(foreign: argument[argument.index(after: slash)...])
        else {
            (host, worker) = (argument, nil)
            return
        }
        (host, worker) = (String(argument[..<slash]), number)
        if number < 0 || host.isEmpty { return nil }
    }

    /// The first arguments of the command to the coordinator.
    var words: [String] { worker.map { ["\($0)"] } ?? [] }
}

/// A command to one host or to all hosts.
struct HostOptions: ParsableArguments {
    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or \"all\" for all hosts.", valueName: "host"))
    var host: String

    func operate(
        _ verb: OperatorVerb, _ words: [String] = [], defaultTimeout: Duration = .seconds(60),
        oneByOne: Bool = false
    ) throws {
        try common.operate(
            verb, words, on: host == "all" ? nil : host, operation, defaultTimeout: defaultTimeout,
            oneByOne: oneByOne)
    }
}

/// A command to a host, or to one of its workers.
struct TargetOptions: ParsableArguments {
    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or HOST/N for one of its workers.", valueName: "host[/worker]"))
    var target: OperatorTarget

    func operate(_ verb: OperatorVerb, _ words: [String] = []) throws {
        try common.operate(verb, target.words + words, on: target.host, operation)
    }
}

extension CommonOptions {
    /// Sends a command to coordinators, waits for their replies and shows them.
    /// - Parameter host: the host, or nil for all living hosts.
    func operate(
        _ verb: OperatorVerb, _ arguments: [String] = [], on host: String? = nil, _ options: OperatorOptions,
        defaultTimeout: Duration = .seconds(60), oneByOne: Bool = false
    ) throws {
        let configuration = try load()
        let console = Console(json: json)
        try Loop.run { @Loop in
            var operators = OperatorClient(configuration: configuration, options: options, console: console)
            operators.defaultTimeout = defaultTimeout
            try await operators.carryOut(verb, arguments, on: host, oneByOne: oneByOne)
        }
    }
}

/// The operator's name in pauses: `user@host`, one word.
@Loop enum OperatorName {
    static var current: String {
        let allowed = OperatorClient.issuer.unicodeScalars.filter { $0.value > 0x20 && $0.value != 0x7F }
        return allowed.isEmpty ? "unknown" : String(String.UnicodeScalarView(allowed.prefix(128)))
    }
}
