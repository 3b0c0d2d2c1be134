import ArgumentParser

/// What every command takes that tells coordinators something.
struct OperatorOptions: ParsableArguments {
    @Flag(help: "Say what would be done, and do nothing.")
    var dryRun = false

    @Flag(inversion: .prefixedNo, help: "Wait until every host has done it.")
    var wait = true

    @Option(reads: ArgumentHelp("Wait so long at most.", valueName: "duration"))
    var timeout: TimeSpan?

    @Flag(help: "Speak to this machine's coordinator over its control socket, without Redis.")
    var local = false

    /// The host that a name means; nil for `all`.
    func hosts(_ name: String) -> String? { name == "all" ? nil : name }

    func validate() throws {
        try timeout?.check("--timeout", 0.001...86_400)
    }
}

/// Whom a command is for: `HOST`, or `HOST/N` for one of its workers.
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

    /// What goes before a coordinator's options.
    var words: [String] { worker.map { ["\($0)"] } ?? [] }
}
