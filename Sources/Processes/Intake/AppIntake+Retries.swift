import EventLoop
import FarmPolicy
import StoreProtocol

extension AppIntake {
    /// Repeats a request while Redis cannot carry it out or cannot be reached. Logs the outage once.
    ///
    /// - Throws: an error that a repetition does not cure, or the last one when the task is cancelled.
    func retrying<Step: Request>(_ request: Step) async throws(StoreError) -> Step.Reply {
        var backoff = BackOff.redis
        var isLogged = false
        while true {
            do throws(StoreError) {
                let reply = try await store.perform(request)
                if isLogged {
                    context.log.notice(
                        "Redis answers again", metadata: ["app": "\(name)", "request": "\(Step.self)"])
                }
                return reply
            } catch {
                guard error.isTemporary, !Task.isCancelled else { throw error }
                // That the first connection is still being made is no outage.
                if !isLogged, error != .redis(.notYetConnected) {
                    isLogged = true
                    context.log.warning(
                        "waiting for Redis",
                        metadata: ["app": "\(name)", "request": "\(Step.self)", "error": "\(error)"])
                }
                // A kill during a Redis outage must not count as a job's crash.
                let wasWorking = isWorking
                becomeIdle()
                guard (try? await Loop.sleep(for: backoff.failed())) != nil else { throw error }
                if wasWorking { await work() }
            }
        }
    }
}
