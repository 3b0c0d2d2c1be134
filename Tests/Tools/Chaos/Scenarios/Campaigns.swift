import ChaosChecker
import EventLoop
import FarmHarness
import Foundation
import RandomTesting

/// A scenario with stored devices and campaigns, while processes and Redis are killed.
extension Scenario {
    static let campaigns = Scenario(
        35, "campaigns to stored devices",
        // 3 minutes between two rounds become 6 seconds.
        .with { $0.environment = ["PUSHFARM_TIME_FACTOR": "\(Stage.timeFactor)"] }
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
            let areOver = await stage.readCampaigns()
            try await stage.reward(&waves)
            // `startWave` adds campaigns, so the first wave starts before the first fault.
            if areOver { try await stage.startWave(&waves) }
            try await stage.disturbCampaigns()
        }
        try await eventually("all campaigns have ended", within: .seconds(60)) {
            let areOver = await stage.readCampaigns()
            try await stage.reward(&waves)
            return areOver && waves.unrewarded == nil
        }
        try await stage.finished(["rewards", "rewards_taken"])
        try await eventually("the slots are read") { await stage.readSlots() }
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
    /// The place of the campaign with variants whose devices have no rewards yet; nil if there is none.
    var unrewarded: Int?
}

extension Stage {
    /// Starts campaigns of all kinds at the same time. While they run, changes devices.
    fileprivate func startWave(_ waves: inout Waves) async throws {
        // The devices that changed in the last wave.
        try await registered()
        try await eventually("the slots are read") { await readSlots() }
        waves.count += 1
        let first = campaigns.count
        try await startCampaigns(waves.count, waves.stored)
        waves.unrewarded = campaigns.indices.last { campaigns[$0].id == "learn-\(waves.count)" }
        try await eventually("the campaigns run", within: .seconds(30)) {
            _ = await readCampaigns()
            return campaigns[first...].allSatisfy { !["scheduled", nil].contains($0.record["state"]) }
        }
        let (leaving, done) = (waves.stored[..<20], waves.stored[20..<120])
        // A device that is registered now is in the audience of the next wave.
        let added = Tokens.make(20, start: "c0", seed: random.next())
        try await register(added[...])
        try await remove(leaving)
        let reported = "twice-\(waves.count)"
        let isEarly = try await report(done: done, of: reported)
        for place in campaigns[first...].indices {
            let isReported = campaigns[place].id == reported
            campaigns[place].tokens.removeFirst(isReported ? 120 : 20)
            campaigns[place].leaving = Array(leaving)
            guard isReported else { continue }
            if isEarly { campaigns[place].done = Array(done) } else { campaigns[place].leaving += done }
        }
        waves.stored.removeFirst(20)
        waves.stored += added
    }

    private func startCampaigns(_ wave: Int, _ tokens: [String]) async throws {
        let rounds = #""repeat":{"every":"3m","max":2}"#
        try await start(CampaignNote(id: "once-\(wave)", tokens: tokens, rounds: 1), #""rate":250"#)
        try await start(
            CampaignNote(id: "twice-\(wave)", tokens: tokens, rounds: 2),
            #""spread":"90s",\#(rounds),"fallback":{"payload":{"aps":{"badge":1}}}"#)
        // The cohorts give the two campaigns different orders of the devices.
        for (name, fields) in [("first", #""rate":250"#), ("second", #""spread":"90s","cohorts":3"#)] {
            try await startCapped("\(name)-\(wave)", category: "category-\(wave)", tokens, fields)
        }
        try await startVariants(
            "learn-\(wave)", tokens, rounds: 2, #""allocation":"thompson","spread":"60s",\#(rounds)"#)
        let merged = ["morning-\(wave)", "evening-\(wave)"]
        addMerge("news-\(wave)", merged)
        for (id, fields) in [(merged[0], #""spread":"60s",\#(rounds)"#), (merged[1], #""spread":"60s""#)] {
            try await startMerged(
                id, in: "news-\(wave)", tokens, rounds: id == merged[0] ? 2 : 1, fields)
        }
    }

    /// Reports rewards of devices if the first round of the wave's campaign with variants is over.
    fileprivate func reward(_ waves: inout Waves) async throws {
        guard let place = waves.unrewarded else { return }
        func count(_ field: String) -> Int { campaigns[place].record[field].flatMap { Int($0) } ?? 0 }
        let handled = ["accepted:1", "excluded:1", "unsendable:1"].reduce(0) { $0 + count($1) }
        guard handled > 0, handled == count("audience:1") else { return }
        let rewarded = campaigns[place].tokens[200..<400]
        try await reward(rewarded, of: campaigns[place].id)
        campaigns[place].rewarded = Array(rewarded)
        waves.unrewarded = nil
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
