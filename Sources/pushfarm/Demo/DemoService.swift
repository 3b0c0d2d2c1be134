import EventLoop
import FarmConfiguration

/// `pushfarm demo`: a farm of its own from start to end. Takes settings of its app only: it must not touch a real farm.
struct DemoService: Sendable {
    let load: DemoLoad
    let workers: Int
    let kills: Int
    let settings: DemoSettings
    /// Made for this run; removed at its end, unless there is something in it to look at.
    let folder: String
    let console: Console

    @Loop func run() async throws {
        let end = EndSignal()
        var configuration = Configuration(host: "demo", stateDirectory: folder)
        configuration.workers = .fixed(workers)
        var plan = LocalFarm.Plan(
            configuration: configuration,
            arguments: [
                "--config", folder + "/pushfarm.yaml", "--workers", String(workers), "--set", "host=demo",
            ] + settings.arguments,
            simulates: true)
        plan.simulatorArguments = ["--config", folder + "/pushfarm.yaml", "--port", "0", "--count-distinct"]
        plan.logsToFiles = true
        plan.isSealed = true
        let farm = LocalFarm(plan)
        var failure: CommandFailure?
        farm.onLoss = { role, how in
            let message = "the \(role) \(how.words)\n" + farm.logTail(of: role)
            failure = failure ?? .failed(message)
            end.give()
        }
        end.onRepeat = { farm.kill() }
        var summary: DemoSummary?
        do throws(CommandFailure) {
            try StateFolder.write("{}\n", to: folder + "/pushfarm.yaml")
            console.say("starting a private Redis, a simulated gateway, a coordinator and \(workers) workers")
            try await farm.start()
            summary = try await deliver(farm, configuration, end)
        } catch {
            failure = failure ?? error
        }
        await farm.stop()
        if end.isGiven, failure == nil {
            StateFolder.remove(folder)
            throw CommandFailure.failed("ended before it was done")
        }
        try conclude(summary, failure)
    }

    @Loop private func deliver(
        _ farm: LocalFarm, _ configuration: Configuration, _ end: EndSignal
    ) async throws(CommandFailure) -> DemoSummary? {
        let client = try await FarmClient.connect(configuration, within: .seconds(60))
        defer { client.close() }
        let isReady = try await FarmReadiness(client: client).wait(within: .seconds(30)) { end.isGiven }
        guard isReady else {
            if end.isGiven { return nil }
            throw .failed("the workers did not come up within 30 s\n" + farm.logTail(of: "coordinator"))
        }
        console.say(
            "pushing \(Figures.grouped(load.pushes)), \(Figures.grouped(load.bad)) of them to bad tokens")
        let run = DemoRun(
            client: client, load: load, kills: kills, control: farm.simulation?.control ?? "",
            coordinator: farm.coordinator?.pid ?? 0,
            quiet: console.json)
        return try await run.run { end.isGiven }
    }

    private func conclude(_ summary: DemoSummary?, _ failure: CommandFailure?) throws(CommandFailure) {
        if let summary { console.show(summary.json, summary.text(console.style)) }
        guard failure == nil, let summary, summary.faults.isEmpty else {
            let hint = "\nlogs and data are kept in \(folder)"
            throw .failed((failure?.message ?? "the demo did not add up") + hint)
        }
        StateFolder.remove(folder)
    }
}
