import CLibuv

/// The process's event loop, as the global actor on which everything that is not pure runs.
///
/// Its executor is libuv's default loop: a job of this actor runs between two polls of that loop, on the
/// thread that called ``run(_:)``. C callbacks enter the actor with ``assumeIsolated(_:)``.
@globalActor
package actor Loop {
    package static let shared = Loop()

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        LoopExecutor.shared.asUnownedSerialExecutor()
    }

    /// Runs the loop on this thread until `body` has returned, and hands on its value or its error.
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

    /// Starts a task on the loop, which is resumed on the loop, too: a continuation of a plain `Task { @Loop in }` goes by way
    /// of another thread.
    @discardableResult
    package static func task<Value: Sendable>(
        _ body: sending @escaping @Loop () async -> Value
    ) -> Task<Value, Never> {
        Task(executorPreference: LoopExecutor.shared, operation: body)
    }

    /// The same, for a body that may throw.
    @discardableResult
    package static func task<Value: Sendable>(
        _ body: sending @escaping @Loop () async throws -> Value
    ) -> Task<Value, any Error> {
        Task(executorPreference: LoopExecutor.shared, operation: body)
    }

    /// Enters the actor from a C callback, which the loop calls on its own thread.
    @inline(__always)
    package static func assumeIsolated<Value>(_ body: @Loop () throws -> Value) rethrows -> Value {
        precondition(LoopExecutor.shared.isOnLoopThread, "a callback of the loop ran on another thread")
        // The check above is what the isolation of the closure's type stands for.
        return try withoutActuallyEscaping(body) {
            try unsafeBitCast($0, to: (() throws -> Value).self)()
        }
    }

    /// Milliseconds of a clock that only goes forward, read once a turn: for time-outs, not for leases.
    @Loop package static var milliseconds: UInt64 { uv_now(uv_default_loop()) }

    /// The same clock, read now, however long this turn has lasted.
    @Loop package static func readMilliseconds() -> UInt64 {
        uv_update_time(uv_default_loop())
        return milliseconds
    }

    /// Calls `listener.loopTurnEnded()` once, after this turn's callbacks and jobs and before the loop waits,
    /// if the listener lives until then.
    @Loop package static func atEndOfTurn(_ listener: any TurnListener) {
        LoopExecutor.shared.atEndOfTurn(listener)
    }

    /// Waits at least this long, without blocking the loop: for backoff and for slow polls, never for an event.
    @Loop package static func sleep(for duration: Duration) async throws(CancellationError) {
        let sleep = Sleep()
        await withTaskCancellationHandler {
            await sleep.wait(for: duration)
        } onCancel: {
            task { sleep.wake() }
        }
        if Task.isCancelled { throw CancellationError() }
    }

    /// Keeps an object alive as long as the process lives, for callbacks that come late.
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
                timer = Timer { [unowned self] in ring(end) }
                timer?.start(after: duration)
            }
        }

        /// The loop counts whole milliseconds, so its timers may be a part of one early.
        private func ring(_ end: ContinuousClock.Instant) {
            let left = ContinuousClock.now.duration(to: end)
            if left > .zero { timer?.start(after: left) } else { wake() }
        }

        func wake() {
            timer?.stop()
            continuation?.resume()
            continuation = nil
        }
    }
}

/// Something that has work to do once a turn of the loop, such as one write for all that a turn produced.
package protocol TurnListener: AnyObject {
    @Loop func loopTurnEnded()
}

/// An error of libuv, described by libuv's own text.
package struct LoopError: Error, Equatable, CustomStringConvertible {
    /// A negative `UV_E…` value, which is `-errno` on Unix.
    package let code: Int32

    package init(code: Int32) { self.code = code }

    package var description: String { String(cString: uv_strerror(code)) }
}
