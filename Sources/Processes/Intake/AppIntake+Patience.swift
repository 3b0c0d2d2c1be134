import EventLoop
import FarmPolicy
import StoreProtocol

extension AppIntake {
    /// Makes a request again and again while Redis cannot do it or cannot be reached, and says so once.
    /// - Throws: an error that repeating does not heal, or the last one when the task is cancelled.
    func patiently<Step: Request>(_ request: Step) async throws(StoreError) -> Step.Reply {
        var backoff = BackOff.redis
        var failures = 0
        while true {
            do throws(StoreError) {
                let reply = try await store.perform(request)
                if failures > 1 {
                    context.log.notice("Redis does \(Step.self) again", metadata: ["app": "\(name)"])
                }
                return reply
            } catch {
                guard error.isTemporary, !Task.isCancelled else { throw error }
                failures += 1
                // The first may only be ahead of the connection.
                if failures == 2 {
                    context.log.warning(
                        "\(Step.self) waits for Redis", metadata: ["app": "\(name)", "error": "\(error)"])
                }
                // A kill during a Redis outage must not count as a job's crash.
                let wasWorking = isWorking
                rest()
                guard (try? await Loop.sleep(for: backoff.failed())) != nil else { throw error }
                if wasWorking { await work() }
            }
        }
    }
}
