import ChaosChecker
import EventLoop
import FarmHarness
import Foundation
import RandomTesting

/// A scenario with stored devices and campaigns, while processes and Redis are killed.
extension Scenario {
    static let campaigns = Scenario(
        35, "campaigns to stored devices",
        // The times between rounds are divided by the factor: 3 minutes become 6 seconds.
        .with { $0.environment = ["PUSHFARM_TIME_FACTOR": "30"] }
    ) { stage in
        stage.expectation.recovery = nil
        // Other scenarios check the order and the senders.
        stage.expectation.keepsOrder = false
        stage.expectation.hasOneSender = false
        stage.startFlow(every: .milliseconds(250), sizes: 20...100)
        let tokens = Tokens.make(1_000, start: "c0", seed: stage.random.next())
        for part in 0..<2 {
            try await stage.register(tokens[part * 250..<(part + 1) * 250])
            if part == 1 { try await stage.killIntake() }
        }
        try await stage.importDevices(tokens[500...])
        var waves = Waves(stored: tokens)
        try await stage.again(every: .milliseconds(900)) {
            // `start` adds campaigns, so the first wave starts before the first fault.
            if await stage.readCampaigns() { try await stage.startWave(&waves) }
            try await stage.disturbCampaigns()
        }
        try await eventually("all campaigns have ended", within: .seconds(60)) {
            await stage.readCampaigns()
        }
        await stage.stopFlow()
        try await eventually("all jobs are finished", within: .seconds(60)) { await stage.isIdle() }
        try await stage.run("debug", "fsck")
    }
}

/// The waves of campaigns in a run.
private struct Waves {
    var count = 0
    /// The tokens of the stored devices.
    var stored: [String]
}

extension Stage {
    /// Starts a campaign with one round, and one with two rounds, at the same time. While they run, changes devices.
    fileprivate func startWave(_ waves: inout Waves) async throws {
        // The devices that changed in the last wave.
        try await registered()
        waves.count += 1
        let first = campaigns.count
        try await start(
            CampaignNote(id: "once-\(waves.count)", tokens: waves.stored, rounds: 1), #""rate":250"#)
        try await start(
            CampaignNote(id: "twice-\(waves.count)", tokens: waves.stored, rounds: 2),
            #""spread":"90s","repeat":{"every":"3m","max":2},"fallback":{"payload":{"aps":{"badge":1}}}"#)
        try await eventually("the campaigns run", within: .seconds(30)) {
            _ = await readCampaigns()
            return campaigns[first...].allSatisfy { !["scheduled", nil].contains($0.record["state"]) }
        }
        let (leaving, done) = (waves.stored[..<20], waves.stored[20..<120])
        // A device that is registered now is in the audience of the next wave.
        let added = Tokens.make(20, start: "c0", seed: random.next())
        try await register(added[...])
        try await remove(leaving)
        let isEarly = try await report(done: done, of: campaigns[first + 1].id)
        for place in campaigns[first...].indices {
            let isReported = campaigns[place].rounds > 1
            campaigns[place].tokens.removeFirst(isReported ? 120 : 20)
            campaigns[place].leaving = Array(leaving)
            guard isReported else { continue }
            if isEarly { campaigns[place].done = Array(done) } else { campaigns[place].leaving += done }
        }
        waves.stored.removeFirst(20)
        waves.stored += added
    }

    fileprivate func killIntake() async throws {
        guard let pid = hosts[0].pids(.intake).first else { return }
        await fault("kill intake") { kill(pid, SIGKILL) }
    }

    fileprivate func disturbCampaigns() async throws {
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2: try await killIntake()
        case 3, 4: await killWorker()
        case 5, 6: try await fault("kill Redis") { try await redis.crash() }
        default:
            try await fault("kill coordinator") {
                hosts[0].signal(SIGKILL)
                _ = try await hosts[0].ended()
                try hosts[0].restart()
                try await ready()
            }
        }
    }
}
