import CLibuv

/// The process's event loop, as a global actor. All code that does I/O runs on it.
///
/// The executor of this actor is libuv's default loop: a job of this actor runs between two polls of the loop, on the
/// thread that called ``run(_:)``. C callbacks enter the actor with ``assumeIsolated(_:)``.
@globalActor
package actor Loop {
    package static let shared = Loop()

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        LoopExecutor.shared.asUnownedSerialExecutor()
    }

    /// Runs the loop on this thread until `body` returns. Returns the value of `body`, or throws its error.
    package static func run<Value: Sendable>(
        _ body: @escaping @Loop () async throws -> Value
    ) throws -> Value {
        let executor = LoopExecutor.shared
        executor.adoptCurrentThread()
        let outcome = Outcome<Value>()
        task { await outcome.become(body) }
        while true {
            uv_run(uv_default_loop(), UV_RUN_DEFAULT)
            if let result = assumeIsolated({ outcome.result }) { return try result.get() }
        }
    }

    /// Starts a task that runs and resumes on the loop. A plain `Task { @Loop in }` would resume through another
    /// thread.
    @discardableResult
    package static func task<Value: Sendable>(
        _ body: sending @escaping @Loop () async -> Value
    ) -> Task<Value, Never> {
        Task(executorPreference: LoopExecutor.shared, operation: body)
    }

    /// Starts a task on the loop. The task's body may throw errors.
    @discardableResult
    package static func task<Value: Sendable>(
        _ body: sending @escaping @Loop () async throws -> Value
    ) -> Task<Value, any Error> {
        Task(executorPreference: LoopExecutor.shared, operation: body)
    }

    /// Enters the actor from a C callback. The loop calls C callbacks on its own thread.
    @inline(__always)
    package static func assumeIsolated<Value>(_ body: @Loop () throws -> Value) rethrows -> Value {
        precondition(LoopExecutor.shared.isOnLoopThread, "a callback of the loop ran on another thread")
        // The type of `body` requires that this thread runs the loop. The check above proves this at run time, so the cast to a
        // type without this requirement is safe.
        return try withoutActuallyEscaping(body) {
            try unsafeBitCast($0, to: (() throws -> Value).self)()
        }
    }

    /// Milliseconds of a monotonic clock, read once in each turn of the loop. Use this clock for timeouts, not for
    /// leases.
    @Loop package static var milliseconds: UInt64 { uv_now(uv_default_loop()) }

    /// Milliseconds of the monotonic clock behind ``milliseconds``. The clock is read when this function is called, not at the
    /// start of the turn.
    @Loop package static func readMilliseconds() -> UInt64 {
        uv_update_time(uv_default_loop())
        return milliseconds
    }

    /// Calls `listener.loopTurnEnded()` once, after this turn's callbacks and jobs and before the loop waits. A listener that is
    /// freed earlier is not called.
    @Loop package static func atEndOfTurn(_ listener: any TurnListener) {
        LoopExecutor.shared.atEndOfTurn(listener)
    }

    /// Suspends the task for at least this long without blocking the loop. Use this function for backoff and slow polls, never to
    /// wait for events.
    @Loop package static func sleep(for duration: Duration) async throws(CancellationError) {
        let sleep = Sleep()
        await withTaskCancellationHandler {
            await sleep.wait(for: duration)
        } onCancel: {
            task { sleep.wake() }
        }
        if Task.isCancelled { throw CancellationError() }
    }

    /// Suspends the task until the loop has polled once. Call this in long computations, so that the loop notices signals and
    /// replies meanwhile.
    @Loop package static func poll() async { await Sleep().wait(for: .zero) }

    /// Keeps an object alive until the process ends, because a callback may still use the object.
    @Loop package static func keep(_ root: AnyObject) { roots.append(root) }

    @Loop private static var roots: [AnyObject] = []

    @Loop private final class Outcome<Value: Sendable> {
        nonisolated init() {}
        private(set) var result: Result<Value, any Error>?

        func become(_ body: @Loop () async throws -> Value) async {
            do { result = .success(try await body()) } catch { result = .failure(error) }
            uv_stop(uv_default_loop())
        }
    }

    @Loop private final class Sleep {
        private var timer: Timer?
        private var continuation: CheckedContinuation<Void, Never>?

        func wait(for duration: Duration) async {
            let end = ContinuousClock.now + duration
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume() }
                self.continuation = continuation
                timer = Timer { [unowned self] in timerFired(end) }
                timer?.start(after: duration)
            }
        }

        /// The loop counts whole milliseconds, so a timer may fire up to one millisecond early. If the timer was early, this
        /// function starts the timer again for the remaining time.
        private func timerFired(_ end: ContinuousClock.Instant) {
            let remaining = ContinuousClock.now.duration(to: end)
            if remaining > .zero { timer?.start(after: remaining) } else { wake() }
        }

        func wake() {
            timer?.stop()
            continuation?.resume()
            continuation = nil
        }
    }
}

/// An object that does work at the end of a turn of the loop, such as one write for all output of the turn.
package protocol TurnListener: AnyObject {
    @Loop func loopTurnEnded()
}

/// An error of libuv. The error's description is libuv's own text.
package struct LoopError: Error, Equatable, CustomStringConvertible {
    /// A negative `UV_E…` value, which is `-errno` on Unix.
    package let code: Int32

    package init(code: Int32) { self.code = code }

    package var description: String { String(cString: uv_strerror(code)) }
}
