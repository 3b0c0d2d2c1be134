import FarmHarness
import Foundation

/// Plays nights with a real Redis, coordinator, workers and simulator. All nights have the same stored devices.
final class NewspaperFarm {
    private let plan: NewspaperPlan
    private let folder: TestFolder
    private let redis: RedisServer
    private let say: (String) -> Void

    /// Starts Redis, and imports the devices.
    init(_ plan: NewspaperPlan, say: @escaping (String) -> Void) async throws {
        (self.plan, self.say) = (plan, say)
        folder = try TestFolder()
        redis = try await RedisServer(in: folder.path, options: ["--save", ""])
        let file = folder.path + "/devices.ndjson"
        try NewspaperDevices.write(plan.devices, to: file)
        let stage = try await Stage("import", in: folder, redis, plan)
        say("importing \(plan.devices) devices")
        let command = try Child(
            "devices-import", BuiltProgram.path,
            ["devices", "import", file, "--app", "demo", "--config", stage.configuration], in: folder.path)
        guard case .exited(0) = try await command.wait(within: .seconds(1800)) else {
            throw Overdue(description: "the import failed: \(command.error)")
        }
        let client = try redis.client()
        try await eventually("all devices are stored", within: .seconds(1800)) {
            let waiting = ["devices", "devices_taken"].map { ["LLEN", "{pushfarm:demo}:\($0)"] }
            return try waiting.allSatisfy { try client.run($0).integer == 0 }
        }
        try await stage.end()
    }

    /// Plays one night.
    func play(_ night: NewspaperPlan.Night) async throws -> NightResult {
        let place = NewspaperPlan.nights.firstIndex { $0.name == night.name } ?? 0
        let (name, doneFile) = ("night-\(place + 1)", folder.path + "/done-\(place + 1).jsonl")
        let model = try folder.write(plan.modelText(), to: "model.yaml")
        let stage = try await Stage(
            name, in: folder, redis, plan, simulator: ["--devices", model, "--done-to", doneFile])
        let start = ContinuousClock.now
        let client = try redis.client()
        var publisher = try Publisher(doneFile: doneFile, redis: client, campaign: name)
        try client.run("RPUSH", "{pushfarm:demo}:campaigns", plan.campaign(night, id: name))
        while ContinuousClock.now < start + plan.realNight {
            try publisher.report()
            guard !stage.gateway.process.hasEnded, !stage.coordinator.hasEnded else {
                throw Overdue(description: "a process ended: \(stage.coordinator.error)")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        let result = try NightResult(night, gateway: stage.gateway)
        try client.run("FCALL", "pushfarm_cancel", "1", "pushfarm:demo", name)
        try await stage.end()
        return result
    }
}

/// The simulator and the coordinator of one part of a run.
private struct Stage {
    let gateway: Gateway
    let coordinator: Child
    /// The path of the coordinator's configuration file.
    let configuration: String

    init(
        _ name: String, in folder: TestFolder, _ redis: RedisServer, _ plan: NewspaperPlan,
        simulator options: [String] = []
    ) async throws {
        let own = folder.path + "/" + name
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        gateway = try await Gateway(in: own, options: options, hasLedger: false)
        let app = App(gateway.started)
        configuration = own + "/pushfarm.yaml"
        let text = CoordinatorConfiguration(
            redis: "unix://\(redis.socket)", folder: own, workers: "2", apps: [app]
        ).text
        try text.write(toFile: configuration, atomically: true, encoding: .utf8)
        coordinator = try Child(
            "coordinator", BuiltProgram.path, ["coordinator", "--config", configuration],
            environment: ["PUSHFARM_TIME_FACTOR": "\(plan.factor)"], in: own)
        let (process, client) = (coordinator, try redis.client())
        try await eventually("the workers are ready") {
            guard !process.hasEnded else { throw Overdue(description: process.error) }
            let hosts = try client.run("HVALS", "{pushfarm}:hosts").array?.compactMap(\.text) ?? []
            return hosts.contains { $0.contains(#""ready""#) && !$0.contains(#""starting""#) }
        }
    }

    func end() async throws {
        coordinator.signal(SIGTERM)
        _ = try await coordinator.wait()
        gateway.process.destroy()
    }
}
