import EventLoop
import FarmPolicy
import Logging
import StoreProtocol

/// Notices when an app's registry has a Redis of its own that cannot be reached, and when it can be reached again.
///
/// Meanwhile, the campaigns to uploaded lists continue, because they have their tokens.
@Loop final class RegistryOutage {
    private let log: Logger
    /// Reads something from the registry.
    private let probe: @Loop () async throws(StoreError) -> Void
    private var task: Task<Void, Never>?

    init(log: Logger, probe: @escaping @Loop () async throws(StoreError) -> Void) {
        (self.log, self.probe) = (log, probe)
    }

    /// Whether the last read of the registry failed, so that work that needs the registry waits.
    var isPresent: Bool { task != nil }

    /// Performs work that needs the registry.
    ///
    /// - Returns: nil if the registry cannot be reached. The work can be repeated later.
    func perform<Value>(
        _ work: @Loop () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value? {
        guard !isPresent else { return nil }
        do throws(StoreError) { return try await work() } catch {
            guard case .registryUnavailable = error else { throw error }
            begin(error)
            return nil
        }
    }

    /// Ends the search for the end of the outage.
    func stop() { task?.cancel() }

    private func begin(_ error: StoreError) {
        log.warning("campaigns to stored devices wait for the registry's Redis", error: error)
        task = Loop.task { [weak self, probe] in
            var backoff = BackOff.redis
            while (try? await Loop.sleep(for: backoff.failed())) != nil {
                do throws(StoreError) { try await probe() } catch { continue }
                break
            }
            self?.end()
        }
    }

    private func end() {
        log.notice("the registry's Redis replies again")
        task = nil
    }
}
