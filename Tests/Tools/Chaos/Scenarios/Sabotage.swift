import ChaosChecker
import EventLoop
import FarmHarness
import Foundation

/// A scenario that damages Redis's data on purpose. The checker must find the damage.
extension Scenario {
    /// Removes a batch from Redis, and changes a job record.
    package static let sabotage = Scenario(0, "sabotage", timeout: .seconds(8)) { stage in
        for name in ["stolen", "forged"] {
            var (job, promise) = stage.load.job(100, named: name)
            promise.isOrdered = false
            // The batch of a delayed job stays in Redis until the scenario removes it, even on a slow machine.
            if name == "stolen" { job.fields += ",\"deliver_at\":\(Int(Date().timeIntervalSince1970) + 600)" }
            await stage.producers[0].push(job, promise)
            if name == "stolen" {
                try await eventually("a batch is removed") {
                    let taken = try stage.runInRedis("ZPOPMIN", "{pushfarm:demo}:delayed").array ?? []
                    return !taken.isEmpty
                }
            } else {
                try await eventually("a job record is changed") {
                    guard try stage.runInRedis("EXISTS", "{pushfarm:demo}:job:forged").integer == 1 else {
                        return false
                    }
                    try stage.runInRedis("HINCRBY", "{pushfarm:demo}:job:forged", "delivered", "1")
                    return true
                }
            }
        }
    }

    /// Removes the bits of the devices that got a campaign's push, and kills the intake. So the next intake repeats these pushes.
    package static let campaignSabotage = Scenario(0, "sabotage of a campaign") { stage in
        let tokens = Tokens.make(400, start: "c0", seed: 1)
        try await stage.register(tokens[...])
        try await stage.registered()
        try await stage.start(CampaignNote(id: "forgetful", tokens: tokens, rounds: 1), #""rate":150"#)
        try await eventually("the campaign has sent some pushes") {
            let accepted = try stage.runInRedis("HGET", "{pushfarm:demo}:campaign:forgetful", "accepted")
            return (accepted.text.flatMap { Int($0) } ?? 0) > 150
        }
        guard let intake = stage.hosts[0].pids(.intake).first else { throw Overdue(description: "no intake") }
        // A stopped intake cannot write the bits again.
        kill(intake, SIGSTOP)
        for key in try stage.runInRedis("KEYS", "{pushfarm:demo}:sent:*").array?.compactMap(\.text) ?? [] {
            try stage.runInRedis("DEL", key)
        }
        kill(intake, SIGKILL)
        try await eventually("the campaign has ended", within: .seconds(60)) { await stage.readCampaigns() }
    }

    /// Removes the history of devices while the intake is stopped: pushes of capped campaigns, variants, rewards and merged pushes.
    /// Later campaigns and rounds then break their promises.
    package static let historySabotage = Scenario(
        0, "sabotage of the history of devices",
        .with { $0.environment = ["PUSHFARM_TIME_FACTOR": "\(Stage.timeFactor)"] }
    ) { stage in
        let tokens = Tokens.make(300, start: "c0", seed: 2)
        try await stage.register(tokens[...])
        try await stage.registered()
        try await stage.startCapped("first", category: "news", tokens, #""rate":600"#)
        stage.addMerge("group", ["morning", "evening"])
        try await stage.startMerged("morning", in: "group", tokens, rounds: 1, #""rate":600"#)
        try await stage.startVariants(
            "learn", tokens, rounds: 2,
            #""allocation":"epsilon-greedy","spread":"30s","repeat":{"every":"5m","max":2}"#)
        try await eventually("the first rounds are over", within: .seconds(30)) {
            _ = await stage.readCampaigns()
            return stage.campaigns.allSatisfy { $0.record["accepted:1"] == "300" }
        }
        try await stage.reward(tokens[..<100], of: "learn")
        stage.campaigns[2].rewarded = Array(tokens[..<100])
        try await stage.finished(["rewards", "rewards_taken"])
        guard let intake = stage.hosts[0].pids(.intake).first else { throw Overdue(description: "no intake") }
        kill(intake, SIGSTOP)
        for name in ["caps", "assigned", "rewarded", "merged"] {
            let keys =
                try stage.runInRedis("KEYS", "{pushfarm:demo}:\(name):*").array?.compactMap(\.text) ?? []
            if keys.isEmpty { stage.complain("no keys of \(name)") }
            for key in keys { try stage.runInRedis("DEL", key) }
        }
        // Nearly all devices would now get the variant with these rewards.
        try stage.runInRedis(
            "HSET", "{pushfarm:demo}:campaign:learn", "rewards:a", "0", "rewards:b", "150000")
        kill(intake, SIGKILL)
        try await stage.startCapped("second", category: "news", tokens, #""rate":600"#)
        try await stage.startMerged("evening", in: "group", tokens, rounds: 1, #""rate":600"#)
        try await eventually("the campaigns have ended", within: .seconds(60)) { await stage.readCampaigns() }
        // The devices have variants again.
        try await stage.reward(tokens[..<100], of: "learn")
        try await stage.finished(["rewards", "rewards_taken"])
        try await eventually("the slots are read") { await stage.readSlots() }
        try await stage.run("debug", "fsck")
    }
}
