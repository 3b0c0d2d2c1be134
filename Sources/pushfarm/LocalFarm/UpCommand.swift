import ArgumentParser
import EventLoop
import FarmConfiguration
import Foundation

struct UpCommand: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Runs a whole farm in one terminal.",
        discussion: """
            Starts the coordinator and its workers. If the configuration names no Redis,
            the command also starts a private Redis; with --simulate, it also starts a
            simulated gateway. The command prints other commands that send pushes from
            another terminal. These commands find the farm if you run them in the same
            folder. Control-C stops all processes in the right order. Queued pushes stay in
            the state folder.

            The password of the private Redis is in the file redis.password of the state
            folder. The private Redis listens on a socket in this folder and on a free port
            of 127.0.0.1.

            Example:
              pushfarm up --simulate
              pushfarm push --token $TOKEN --alert "Hello" --wait
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var service: ServiceOptions

    @Flag(
        help: "Connects every app to a simulated gateway; creates the app \"demo\" if no app is configured.")
    var simulate = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The number of worker processes, or \"auto\" for one per processor.", valueName: "n"))
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
            configuration: configuration,
            arguments: common.arguments + (workers.map { ["--workers", $0] } ?? []),
            simulates: simulate)
        plan.hasRedisPort = true
        plan.simulatorArguments = (common.config.map { ["--config", $0] } ?? []) + ["--port", "0"]
        if configuration.apps.contains(where: { $0.binary != nil }) {
            plan.simulatorArguments += ["--binary-port", "0", "--feedback-port", "0"]
        }
        plan.logArguments = [
            "--log-level", configuration.log.level.rawValue, "--log-format",
            configuration.log.format.rawValue,
        ]
        try Loop.run { @Loop [plan] in try await run(plan) }
    }

    private var overrides: [Override] {
        service.overrides() + (workers.map { [Override(key: "workers", text: $0, flag: "--workers")] } ?? [])
    }

    /// Runs the farm until Control-C, or until one of its processes exits.
    @Loop private func run(_ plan: LocalFarm.Plan) async throws {
        let console = Console(json: common.json)
        let farm = LocalFarm(plan)
        let reload = SignalWatcher(SIGHUP) { farm.coordinator?.signal(SIGHUP) }
        await farm.start(within: .seconds(60)) { client, workers throws(CommandFailure) in
            guard let workers else { return }
            let directions = LocalFarmDirections(to: farm, plan.configuration)
            if directions.isFileNeeded { try StateFolder.write(directions.text, to: directions.file) }
            show(directions, redis: client.redisAddress, workers: workers, console)
        }
        await farm.end.wait()
        // If the farm failed to start, show only the error.
        if farm.hasStarted { console.say("ending") }
        let directions = LocalFarmDirections(to: farm, plan.configuration)
        if directions.isFileNeeded { unlink(directions.file) }
        await farm.stop()
        withExtendedLifetime(reload) {}
        if let failure = farm.failure { throw failure }
    }

    private func show(
        _ directions: LocalFarmDirections, redis: String, workers: Int, _ console: Console
    ) {
        let (apps, simulation, port) = (directions.apps, directions.simulation, directions.redisPort)
        let passwordFile = port.map { _ in directions.configuration.privateRedisPasswordFile }
        console.show(
            .object([
                "state": .string("running"), "apps": .strings(apps),
                "workers": .number(workers), "redis": .string(redis), "gateway": .text(simulation?.gateway),
                "binary": .text(simulation?.binary), "feedback": .text(simulation?.feedback),
                "redis_port": .whole(port.map { Int($0) }), "redis_password_file": .text(passwordFile),
                "push": .string(directions.push), "redis_cli": .text(directions.redisCommand),
            ]),
            """
            \(Paint.bold.on("pushfarm is up", if: console.colours)): \(workers) workers,
            \(apps.joined(separator: ", "))
              Redis    \(redis)\(port.map { ", and 127.0.0.1:\($0) with the password in \(passwordFile ?? "")" } ?? "")
              gateway  \(simulation.map { "\($0.addresses) (simulated)" } ?? "as configured")
              end      Control-C
            To push from another terminal:
              \(directions.push)
            \(directions.redisCommand.map { "  \($0)\n" } ?? "")
            """)
    }
}
