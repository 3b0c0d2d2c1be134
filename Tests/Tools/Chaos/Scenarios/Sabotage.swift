import EventLoop
import FarmHarness
import Foundation

/// Damages Redis's data on purpose: the checker must find it.
extension Scenario {
    /// Removes a batch from Redis, and changes a job record.
    package static let sabotage = Scenario(0, "sabotage", patience: .seconds(8)) { stage in
        for name in ["stolen", "forged"] {
            var (job, promise) = stage.load.job(100, named: name)
            promise.isOrdered = false
            // Waits until the batch is checked out, however slow the machine is.
            if name == "stolen" { job.fields += ",\"deliver_at\":\(Int(Date().timeIntervalSince1970) + 600)" }
            await stage.producers[0].push(job, promise)
            if name == "stolen" {
                try await eventually("a batch is taken out") {
                    let taken = try stage.tellRedis("ZPOPMIN", "{pushfarm:demo}:delayed").array ?? []
                    return !taken.isEmpty
                }
            } else {
                try await eventually("an account is forged") {
                    guard try stage.tellRedis("EXISTS", "{pushfarm:demo}:job:forged").integer == 1 else {
                        return false
                    }
                    try stage.tellRedis("HINCRBY", "{pushfarm:demo}:job:forged", "delivered", "1")
                    return true
                }
            }
        }
    }
}
