import EventLoop

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// `pushfarm up`: a local farm until Control-C, or until one of its processes ends.
@Loop struct UpService {
    let plan: LocalFarm.Plan
    let console: Console

    func run() async throws {
        let end = EndSignal()
        let farm = LocalFarm(plan)
        var failure: CommandFailure?
        farm.onLoss = { role, how in
            if failure == nil {
                failure = CommandFailure(status: Self.status(of: how), message: "the \(role) \(how.words)")
            }
            end.give()
        }
        end.onRepeat = { farm.kill() }
        let reload = SignalWatcher(SIGHUP) { farm.coordinator?.signal(SIGHUP) }
        var hasStarted = false
        do throws(CommandFailure) {
            try await farm.start()
            hasStarted = true
            if !end.isGiven { try await announce(farm, end) }
        } catch {
            failure = failure ?? error
            end.give()
        }
        await end.wait()
        // Of a farm that did not come up the error is enough.
        if hasStarted { console.say("ending") }
        let directions = directions(to: farm)
        if directions.hasFile { unlink(directions.file) }
        await farm.stop()
        withExtendedLifetime(reload) {}
        if let failure { throw failure }
    }

    private func announce(_ farm: LocalFarm, _ end: EndSignal) async throws(CommandFailure) {
        let client = try await FarmClient.connect(plan.configuration, within: .seconds(60))
        defer { client.close() }
        guard try await FarmReadiness(client: client).wait(within: .seconds(60), unless: { end.isGiven })
        else { return }
        let workers = try await FarmReadiness(client: client).readyWorkers().count
        let directions = directions(to: farm)
        let apps = directions.apps
        if directions.hasFile { try StateFolder.write(directions.text, to: directions.file) }
        let passwordFile = farm.redisPort.map { _ in plan.configuration.privateRedisPasswordFile }
        console.show(
            .object([
                "state": .string("running"), "apps": .array(apps.map { .string($0) }),
                "workers": .number(workers),
                "redis": .string(client.place), "gateway": .text(farm.simulation?.gateway),
                "binary": .text(farm.simulation?.binary), "feedback": .text(farm.simulation?.feedback),
                "redis_port": .whole(farm.redisPort.map { Int($0) }),
                "redis_password_file": .text(passwordFile),
                "push": .string(directions.push), "redis_cli": .text(directions.redisCommand),
            ]),
            """
            \(Paint.bold.on("pushfarm is up", if: console.colours)): \(workers) workers, \(apps.joined(separator: ", "))
              Redis    \(client.place)\(farm.redisPort.map { ", and 127.0.0.1:\($0) with the password in \(passwordFile ?? "")" } ?? "")
              gateway  \(farm.simulation.map { "\($0.places) (simulated)" } ?? "as configured")
              end      Control-C
            To push from another terminal:
              \(directions.push)
            \(directions.redisCommand.map { "  \($0)\n" } ?? "")
            """)
    }

    private func directions(to farm: LocalFarm) -> LocalFarmDirections {
        LocalFarmDirections(
            configuration: plan.configuration, simulation: farm.simulation, redisPort: farm.redisPort)
    }

    /// A child's own status says what went wrong.
    private static func status(of end: ChildProcess.End) -> ExitStatus {
        guard case .exited(let status) = end else { return .failed }
        return ExitStatus(rawValue: status).map { $0 == .done ? .failed : $0 } ?? .failed
    }
}
