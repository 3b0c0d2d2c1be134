import ArgumentParser
import EventLoop
import FarmConfiguration

struct DemoCommand: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Sends a million pushes to the simulator and counts them.",
        discussion: """
            Starts a private Redis, a simulated gateway and a farm in a temporary folder.
            Then the command sends pushes, kills a worker during the delivery, and compares
            the job records with the gateway's count. The exit status is 1 when the counts
            differ. The command ignores configuration files and environment variables, and
            leaves no files or processes.

            Example:
              pushfarm demo
              pushfarm demo --pushes 100000 --workers 4 --kill 3
              pushfarm demo --set apps.demo.max_conns=2
            """)

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Changes one setting of the demo's app, as in --set apps.demo.max_conns=2.",
            valueName: "key=value"))
    var assignments: [String] = []

    @Flag(name: .long, help: "Prints JSON with stable fields.")
    var json = false

    @Option(reads: ArgumentHelp("The number of pushes, which are sent in jobs of 1,000.", valueName: "n"))
    var pushes = 1_000_000

    @Option(
        reads: ArgumentHelp(
            "The number of pushes to bad tokens. Default: one push in a hundred.", valueName: "n"))
    var bad: Int?

    @Option(reads: ArgumentHelp("The number of worker processes.", valueName: "n"))
    var workers = 2

    @Option(reads: ArgumentHelp("The number of workers to kill during the delivery.", valueName: "n"))
    var kill = 1

    func validate() throws {
        guard (1...100_000_000).contains(pushes) else {
            throw ValidationError("--pushes must be from 1 to 100000000.")
        }
        if let bad {
            guard (0...pushes).contains(bad) else {
                throw ValidationError("--bad must be from 0 to the number of --pushes.")
            }
            // If more than a fifth of the tokens are invalid, the farm assumes that they are of another environment,
            // and pauses the app. Then the demo could not finish.
            guard pushes < 1000 || bad <= pushes * 3 / 20 else {
                throw ValidationError(
                    "--bad must be at most 15 % of --pushes, because the farm pauses the app when more tokens are bad."
                )
            }
        }
        guard (1...256).contains(workers) else { throw ValidationError("--workers must be from 1 to 256.") }
        guard (0...1000).contains(kill) else { throw ValidationError("--kill must be from 0 to 1000.") }
    }

    func run() throws {
        let settings = try DemoSettings(assignments)
        let folder = try StateFolder.temporary()
        let load = DemoLoad(pushes: pushes, bad: bad ?? pushes / 100)
        try Loop.run { @Loop in try await run(load, plan(settings, in: folder)) }
    }

    /// The plan of a farm of its own for the demo. The demo must not change a real farm, so the plan ignores the user's
    /// configuration, except settings of the demo's app.
    private func plan(_ settings: DemoSettings, in folder: String) -> LocalFarm.Plan {
        var configuration = Configuration(host: "demo", stateDirectory: folder)
        configuration.workers = .fixed(workers)
        let file = ["--config", folder + "/pushfarm.yaml"]
        var plan = LocalFarm.Plan(
            configuration: configuration,
            arguments: file + ["--workers", String(workers), "--set", "host=demo"] + settings.arguments,
            simulates: true)
        plan.simulatorArguments = file + ["--port", "0", "--count-distinct"]
        plan.logsToFiles = true
        plan.isSealed = true
        return plan
    }

    @Loop private func run(_ load: DemoLoad, _ plan: LocalFarm.Plan) async throws {
        let console = Console(json: json)
        let folder = plan.configuration.stateDirectory
        try StateFolder.write("{}\n", to: folder + "/pushfarm.yaml")
        console.say("starting a private Redis, a simulated gateway, a coordinator and \(workers) workers")
        let farm = LocalFarm(plan)
        var summary: DemoSummary?
        await farm.start(within: .seconds(30)) { client, workers throws(CommandFailure) in
            guard workers != nil else {
                throw .failed("the workers did not start within 30 s\n" + farm.logTail(of: "coordinator"))
            }
            console.say(
                "pushing \(Figures.grouped(load.pushes)), \(Figures.grouped(load.bad)) of them to bad tokens")
            summary = try await DemoRun(client, farm, load: load, kills: kill, quiet: json).run()
        }
        await farm.stop()
        if farm.end.isGiven, farm.failure == nil {
            StateFolder.remove(folder)
            throw CommandFailure.failed("the demo was stopped before its end")
        }
        if let summary { console.show(summary.json, summary.text(console.style)) }
        guard farm.failure == nil, let summary, summary.faults.isEmpty else {
            throw CommandFailure.failed(
                (farm.failure?.message ?? "the counts of the demo differ")
                    + "\nlogs and data are kept in \(folder)")
        }
        // Only reached without a failure. After a failure the files stay, so that the user can read the logs.
        StateFolder.remove(folder)
    }
}
