import ArgumentParser
import EventLoop
import FarmConfiguration

struct UpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Runs everything in one terminal.",
        discussion: """
            A private Redis if none is configured, a simulated gateway if asked, the
            coordinator and its workers. It prints the lines with which another terminal
            pushes; commands that are started in the same folder find it by themselves.
            Control-C ends it in order; what is queued is kept in the state folder.

            The private Redis has a password, which is in redis.password of the state
            folder, and listens on a socket there and on a free port of 127.0.0.1.

            Example:
              pushfarm up --simulate
              pushfarm push --token $TOKEN --alert "Hello" --wait
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var service: ServiceOptions

    @Flag(help: "Points every app at a simulated gateway; without any app there is one called demo.")
    var simulate = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Worker processes, or auto for one a processor.", valueName: "n"))
    var workers: String?

    func run() throws {
        let configuration = try common.load(overrides, findsLocalFarm: false)
        if !simulate {
            do { try configuration.requireApps() } catch {
                throw CommandFailure.usage(
                    "\(error); pushfarm up --simulate runs an app called demo without one")
            }
        }
        var plan = LocalFarm.Plan(
            configuration: configuration, arguments: common.arguments + flags, simulates: simulate)
        plan.hasRedisPort = true
        plan.simulatorArguments = (common.config.map { ["--config", $0] } ?? []) + ["--port", "0"]
        if configuration.apps.contains(where: { $0.binary != nil }) {
            plan.simulatorArguments += ["--binary-port", "0", "--feedback-port", "0"]
        }
        plan.logArguments = [
            "--log-level", configuration.log.level.rawValue, "--log-format",
            configuration.log.format.rawValue,
        ]
        let console = Console(json: common.json)
        try Loop.run { @Loop [plan] in try await UpService(plan: plan, console: console).run() }
    }

    private var overrides: [Override] {
        service.overrides() + (workers.map { [Override(key: "workers", text: $0, flag: "--workers")] } ?? [])
    }

    private var flags: [String] { workers.map { ["--workers", $0] } ?? [] }
}
