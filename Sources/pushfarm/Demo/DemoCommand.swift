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

            With --campaign, the command registers devices in several time zones, and sends
            a campaign to a segment of them. Then it also kills the intake, which runs the
            campaign.

            Example:
              pushfarm demo
              pushfarm demo --pushes 100000 --workers 4 --kill 3
              pushfarm demo --campaign --devices 50000
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

    @Option(
        reads: ArgumentHelp(
            "The number of pushes, which are sent in jobs of 1,000 (default: 1000000).", valueName: "n"))
    var pushes: Int?

    @Flag(help: "Sends a campaign to stored devices instead of jobs.")
    var campaign = false

    @Option(
        reads: ArgumentHelp(
            "With --campaign: the number of devices to register (default: 30000).", valueName: "n"))
    var devices: Int?

    @Option(
        reads: ArgumentHelp(
            "The number of bad tokens among all tokens. Default: one in a hundred.", valueName: "n"))
    var bad: Int?

    @Option(reads: ArgumentHelp("The number of worker processes.", valueName: "n"))
    var workers = 2

    @Option(reads: ArgumentHelp("The number of workers to kill during the delivery.", valueName: "n"))
    var kill = 1

    func validate() throws {
        if campaign, pushes != nil {
            throw ValidationError("A campaign has no --pushes; use --devices.")
        }
        if !campaign, devices != nil { throw ValidationError("--devices needs --campaign.") }
        let (name, most) = campaign ? ("--devices", 1_000_000) : ("--pushes", 100_000_000)
        guard (1...most).contains(tokens) else {
            throw ValidationError("\(name) must be from 1 to \(most).")
        }
        if let bad {
            guard (0...tokens).contains(bad) else {
                throw ValidationError("--bad must be from 0 to the number of \(name).")
            }
            // If more than a fifth of the tokens are invalid, the farm keeps them unconfirmed, fires an alert and may pause
            // the app.
            guard tokens < 1000 || bad <= tokens * 3 / 20 else {
                throw ValidationError(
                    "--bad must be at most 15 % of \(name), because the farm may pause when more tokens are bad."
                )
            }
        }
        guard (1...256).contains(workers) else { throw ValidationError("--workers must be from 1 to 256.") }
        guard (0...1000).contains(kill) else { throw ValidationError("--kill must be from 0 to 1000.") }
    }

    func run() throws {
        let settings = try DemoSettings(assignments)
        let folder = try StateFolder.temporary()
        try Loop.run { @Loop in try await run(plan(settings, in: folder)) }
    }

    /// The number of different tokens.
    private var tokens: Int { campaign ? devices ?? 30_000 : pushes ?? 1_000_000 }

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

    @Loop private func run(_ plan: LocalFarm.Plan) async throws {
        let console = Console(json: json)
        let folder = plan.configuration.stateDirectory
        try StateFolder.write("{}\n", to: folder + "/pushfarm.yaml")
        console.say("starting a private Redis, a simulated gateway, a coordinator and \(workers) workers")
        let farm = LocalFarm(plan)
        var summary: (any DemoResult)?
        await farm.start(within: .seconds(30)) { client, workers throws(CommandFailure) in
            guard workers != nil else {
                throw .failed("the workers did not start within 30 s\n" + farm.logTail(of: "coordinator"))
            }
            summary = try await send(client, farm, console)
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

    @Loop private func send(
        _ client: FarmClient, _ farm: LocalFarm, _ console: Console
    ) async throws(CommandFailure) -> any DemoResult {
        let bad = bad ?? tokens / 100
        if campaign {
            let load = CampaignDemoLoad(devices: tokens, bad: bad)
            return try await CampaignDemoRun(client, farm, load: load, kills: kill, quiet: json).run {
                console.say($0)
            }
        }
        console.say("pushing \(Figures.grouped(tokens)), \(Figures.grouped(bad)) of them to bad tokens")
        let load = DemoLoad(pushes: tokens, bad: bad)
        return try await DemoRun(client, farm, load: load, kills: kill, quiet: json).run()
    }
}
