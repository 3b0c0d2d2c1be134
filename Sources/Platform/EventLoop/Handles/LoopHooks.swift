import CLibuv

/// The libuv handles that call the executor from the loop. The handles live as long as the process.
///
/// `prepare` runs right before every poll and finishes the turn; `idle` prevents the poll from waiting while jobs or listeners
/// are due; `async` wakes the loop from another thread.
@Loop final class LoopHooks {
    var listeners: [Listener] = []
    /// The listeners that are being called. The array is kept to reuse its memory.
    var called: [Listener] = []
    private let idle: Address<uv_idle_t>
    /// The only handle that other threads may use: libuv allows `uv_async_send` on any thread.
    private let wakeUp: Address<uv_async_t>

    /// A listener that is called at the end of the turn. The reference is weak, so the listener can be freed earlier.
    struct Listener {
        weak var object: (any TurnListener)?
    }

    /// The permanent address of a libuv handle.
    private struct Address<Kind>: Sendable {
        private let bits: UInt
        init(_ handle: UnsafeMutablePointer<Kind>) { bits = UInt(bitPattern: handle) }
        var handle: UnsafeMutablePointer<Kind> { UnsafeMutablePointer(bitPattern: bits)! }
    }

    nonisolated init() {
        let loop = uv_default_loop()
        let idle = UnsafeMutablePointer<uv_idle_t>.allocate(capacity: 1)
        uv_idle_init(loop, idle)
        self.idle = Address(idle)
        let prepare = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
        uv_prepare_init(loop, prepare)
        uv_prepare_start(prepare) { _ in Loop.assumeIsolated { LoopExecutor.shared.finishTurn() } }
        let async = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
        uv_async_init(loop, async) { _ in }
        wakeUp = Address(async)
    }

    nonisolated func wakeFromAnotherThread() {
        uv_async_send(wakeUp.handle)
    }

    func forbidWaiting() {
        uv_idle_start(idle.handle) { _ in }
    }

    func allowWaiting() {
        uv_idle_stop(idle.handle)
    }
}
