import EventLoop

/// Waits for a socket that is being made: for a connect, a proxy's answer, a handshake.
@Loop final class SocketWaiter {
    private let deadline: ContinuousClock.Instant
    private var poll: Poll?
    private var timer: Timer?
    private var continuation: CheckedContinuation<Bool, Never>?

    init(_ descriptor: Int32, deadline: ContinuousClock.Instant) {
        self.deadline = deadline
        poll = Poll(descriptor) { [unowned self] _ in finish(true) }
    }

    /// - Throws: ``TransportError/timedOut(stage:)`` when the deadline comes first.
    func wait(for interest: Poll.Interest, stage: String) async throws(TransportError) {
        let left = deadline - .now
        guard left > .zero else { throw .timedOut(stage: stage) }
        if timer == nil { timer = Timer { [unowned self] in finish(false) } }
        let ready = await withCheckedContinuation { continuation in
            self.continuation = continuation
            timer?.start(after: left)
            poll?.watch(interest)
        }
        guard ready else { throw .timedOut(stage: stage) }
    }

    /// Lets go of the descriptor, which then belongs to its stream.
    func release() {
        poll?.cancel()
        poll = nil
        timer = nil
    }

    private func finish(_ ready: Bool) {
        poll?.watch([])
        timer?.stop()
        continuation?.resume(returning: ready)
        continuation = nil
    }
}
