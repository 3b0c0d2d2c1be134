import ArgumentParser

/// The options of commands to coordinators.
struct OperatorOptions: ParsableArguments {
    @Flag(help: "Shows what would be done, and changes nothing.")
    var dryRun = false

    @Flag(inversion: .prefixedNo, help: "Waits until every host has done it.")
    var wait = true

    @Option(reads: ArgumentHelp("The longest time to wait.", valueName: "duration"))
    var timeout: TimeSpan?

    @Flag(help: "Uses the control socket of this machine's coordinator instead of Redis.")
    var local = false

    /// The host that a name means; nil for `all`.
    func hosts(_ name: String) -> String? { name == "all" ? nil : name }

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
