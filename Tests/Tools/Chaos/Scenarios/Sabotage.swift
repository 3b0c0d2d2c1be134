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
}
