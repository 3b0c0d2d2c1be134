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
        end.onImpatience = { farm.kill() }
        let reload = SignalWatcher(SIGHUP) { farm.coordinator?.signal(SIGHUP) }
        do throws(CommandFailure) {
            try await farm.start()
            if !end.isGiven { try await announce(farm, end) }
        } catch {
            failure = failure ?? error
            end.give()
        }
        await end.wait()
        console.say("ending")
        await farm.stop()
        withExtendedLifetime(reload) {}
        if let failure { throw failure }
    }

    private func announce(_ farm: LocalFarm, _ end: EndSignal) async throws(CommandFailure) {
        var configuration = plan.configuration
        let apps = configuration.apps.isEmpty ? ["demo"] : configuration.apps.map(\.name)
        if configuration.redis == nil { configuration.stateDirectory = plan.configuration.stateDirectory }
        let client = try await FarmClient.connect(configuration, within: .seconds(60))
        defer { client.close() }
        guard try await FarmReadiness(client: client).wait(within: .seconds(60), unless: { end.isGiven })
        else { return }
        let workers = try await FarmReadiness(client: client).readyWorkers().count
        console.show(
            .object([
                "state": .string("running"), "apps": .array(apps.map { .string($0) }),
                "workers": .number(workers),
                "redis": .string(client.place), "gateway": .text(farm.simulation?.gateway),
                "binary": .text(farm.simulation?.binary), "feedback": .text(farm.simulation?.feedback),
            ]),
            """
            \(Paint.bold.on("pushfarm is up", if: console.colours)): \(workers) workers, \(apps.joined(separator: ", "))
              Redis    \(client.place)
              gateway  \(farm.simulation.map { "\($0.places) (simulated)" } ?? "as configured")
              push     pushfarm push --app \(apps[0]) --token TOKEN --alert "Hello" --wait
              end      Control-C

            """)
    }

    /// A child's own status says what went wrong.
    private static func status(of end: ChildProcess.End) -> ExitStatus {
        guard case .exited(let status) = end else { return .failed }
        return ExitStatus(rawValue: status).map { $0 == .done ? .failed : $0 } ?? .failed
    }
}
