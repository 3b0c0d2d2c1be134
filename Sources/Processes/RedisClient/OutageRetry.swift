package import EventLoop
import FarmPolicy
package import Logging
package import StoreProtocol

/// Repeats a call until Redis carries the call out, for example while Redis is unreachable. Logs each outage once.
@Loop package struct OutageRetry {
    private let redis: String
    private let log: Logger
    private let metadata: Logger.Metadata

    /// - Parameter redis: how log messages name the Redis that is called.
    package init(_ redis: String = "Redis", log: Logger, metadata: Logger.Metadata = [:]) {
        (self.redis, self.log, self.metadata) = (redis, log, metadata)
    }

    /// - Parameter onWait: is called with true before each wait for Redis, and with false after the wait.
    /// - Throws: an error that retries do not fix, or, if the task is cancelled, the error of the last call.
    package func perform<Value: Sendable>(
        _ call: @Loop () async throws(StoreError) -> Value,
        onWait: @Loop (_ isWaiting: Bool) async -> Void = { _ in }
    ) async throws(StoreError) -> Value {
        var backoff = BackOff.redis
        var isLogged = false
        while true {
            do throws(StoreError) {
                let value = try await call()
                if isLogged { log.notice("\(redis) replies again", metadata: metadata) }
                return value
            } catch {
                guard error.isTemporary, !Task.isCancelled else { throw error }
                // While the process waits for its first connection to Redis, errors are expected, so they are not
                // logged as an outage.
                if !isLogged, error != .redis(.notYetConnected) {
                    isLogged = true
                    log.warning("waiting for \(redis)", error: error, metadata: metadata)
                }
                await onWait(true)
                guard (try? await Loop.sleep(for: backoff.failed())) != nil else { throw error }
                await onWait(false)
            }
        }
    }
}
