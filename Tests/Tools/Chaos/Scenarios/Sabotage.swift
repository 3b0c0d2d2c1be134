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
}
