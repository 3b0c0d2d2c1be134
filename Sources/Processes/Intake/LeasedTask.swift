import EventLoop
import Logging
import StoreProtocol

/// Runs work for an app as long as this host owns the app's intake.
@Loop final class LeasedTask {
    /// The fencing token that proves that this host owns the app's intake; nil if this host does not own it.
    private var token: FenceToken?
    private var task: Task<Void, Never>?
    private let wakeUp = AsyncEvent()
    /// Makes the work stop waiting for new input.
    private let endWait: @Loop () -> Void

    init(endWait: @escaping @Loop () -> Void) { self.endWait = endWait }

    /// Starts the work. If the work is running already, nothing happens.
    ///
    /// - Parameters:
    ///   - serve: works under a token until ``mayServe(_:)`` is false or an error is thrown.
    ///   - recover: handles an error, and waits until the work may start again.
    func start(
        serve: @escaping @Loop (FenceToken) async throws(StoreError) -> Void,
        recover: @escaping @Loop (StoreError, FenceToken) async -> Void
    ) {
        guard task == nil else { return }
        task = Loop.task { await self.run(serve, recover) }
    }

    /// Ends the work, and returns when the work has ended.
    func stop() async {
        task?.cancel()
        wake()
        await task?.value
        task = nil
    }

    /// Uses this fencing token from now on; nil stops the work.
    func setFenceToken(_ token: FenceToken?) {
        guard token != self.token else { return }
        self.token = token
        wake()
    }

    /// Whether the work may continue under this token.
    func mayServe(_ token: FenceToken) -> Bool { self.token == token && !Task.isCancelled }

    /// Waits until the token changes or the work is stopped, but no longer than this.
    func wait(atMost time: Duration) async { await wakeUp.wait(atMost: time) }

    /// Logs an error of the work, and waits until the work may start again.
    ///
    /// - Parameters:
    ///   - work: what the log calls the work, such as `device intake`.
    ///   - onFenced: called if another host owns the app's intake.
    func recover(
        from error: StoreError, of work: String, _ log: Logger, onFenced: @Loop () -> Void
    ) async {
        switch error {
        case .fenced:
            onFenced()
            await wait(atMost: .seconds(1))
        case .outOfStep, .takenJobsDiffer, .exists, .stale:
            log.notice(
                "\(work) restarted: Redis went back in time, or another coordinator took over",
                metadata: ["reason": "\(error)"])
            await wait(atMost: .milliseconds(50))
        default:
            log.error("\(work) cannot continue", error: error)
            await wait(atMost: .seconds(5))
        }
    }

    /// Ends the present wait, or the next wait if none is present.
    func signal() { wakeUp.signal() }

    private func wake() {
        endWait()
        wakeUp.signal()
    }

    private func run(
        _ serve: @Loop (FenceToken) async throws(StoreError) -> Void,
        _ recover: @Loop (StoreError, FenceToken) async -> Void
    ) async {
        while !Task.isCancelled {
            guard let token else {
                await wait(atMost: .seconds(1))
                continue
            }
            do throws(StoreError) { try await serve(token) } catch {
                if !Task.isCancelled { await recover(error, token) }
            }
        }
        endWait()
    }
}
