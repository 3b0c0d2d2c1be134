import ArgumentParser
import EventLoop
import FarmConfiguration

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Sends a million pushes to the simulator and counts them.",
        discussion: """
            Starts a private Redis, a simulated gateway and a farm in a folder of its
            own. Sends pushes, kills a worker meanwhile, and compares the job records with
            the gateway's own count. Leaves no files or processes. Status 1 when the counts
            differ. Ignores configuration files and environment variables.

            Example:
              pushfarm demo
              pushfarm demo --pushes 100000 --workers 4 --kill 3
              pushfarm demo --set apps.demo.max_conns=2
            """)

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Sets one value of the demo's app, as in --set apps.demo.max_conns=2.", valueName: "key=value"))
    var assignments: [String] = []

    @Flag(name: .long, help: "Answer in JSON; its fields are stable.")
    var json = false

    @Option(reads: ArgumentHelp("Pushes, in jobs of 1,000.", valueName: "n"))
    var pushes = 1_000_000

    @Option(
        reads: ArgumentHelp("How many of them go to bad tokens. Default: one in a hundred.", valueName: "n"))
    var bad: Int?

    @Option(reads: ArgumentHelp("Worker processes.", valueName: "n"))
    var workers = 2

    @Option(reads: ArgumentHelp("Workers that are killed on the way.", valueName: "n"))
    var kill = 1

    func validate() throws {
        guard (1...100_000_000).contains(pushes) else { throw ValidationError("--pushes is 1 to 100000000.") }
        if let bad {
            guard (0...pushes).contains(bad) else { throw ValidationError("--bad is 0 to --pushes.") }
            // Above a fifth the farm thinks that it sends to another environment's tokens, and pauses the app.
            guard pushes < 1000 || bad <= pushes * 3 / 20 else {
                throw ValidationError("--bad is at most 15 % of --pushes: with many more a farm pauses.")
            }
        }
        guard (1...256).contains(workers) else { throw ValidationError("--workers is 1 to 256.") }
        guard (0...1000).contains(kill) else { throw ValidationError("--kill is 0 to 1000.") }
    }

    func run() throws {
        let settings = try DemoSettings(assignments)
        let console = Console(json: json)
        let load = DemoLoad(pushes: pushes, bad: bad ?? pushes / 100)
        let (workers, kills) = (workers, kill)
        let folder = try StateFolder.temporary()
        let service = DemoService(
            load: load, workers: workers, kills: kills, settings: settings, folder: folder, console: console)
        try Loop.run { @Loop in try await service.run() }
    }
}
