import CLibuv

/// Watches one nonblocking file descriptor. The caller owns the descriptor and closes it.
///
/// Call ``cancel()`` before closing the descriptor: libuv knows a descriptor by its number, which the system reuses.
@Loop package final class Poll {
    /// The events of a descriptor: readable, writable.
    package struct Interest: OptionSet, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }
        package static let readable = Interest(rawValue: Int32(UV_READABLE.rawValue))
        package static let writable = Interest(rawValue: Int32(UV_WRITABLE.rawValue))
    }

    private let handle: UnsafeMutablePointer<uv_poll_t>
    private let action: @Loop (Interest) -> Void
    private var interest: Interest = []
    private var isCancelled = false

    /// - Parameter action: gets the events that are possible now. After an error of the descriptor, the action gets both
    ///   events, so that the next read or write shows the error.
    package init(_ descriptor: Int32, _ action: @escaping @Loop (Interest) -> Void) {
        self.action = action
        handle = .allocate(capacity: 1)
        let status = uv_poll_init(uv_default_loop(), handle, descriptor)
        precondition(status == 0, "cannot watch descriptor \(descriptor): \(status)")
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    isolated deinit {
        cancel()
    }

    /// Stops watching at once. No callback follows.
    package func cancel() {
        guard !isCancelled else { return }
        isCancelled = true
        Handle.close(handle)
    }

    package func watch(_ interest: Interest) {
        guard !isCancelled, interest != self.interest else { return }
        self.interest = interest
        guard !interest.isEmpty else {
            uv_poll_stop(handle)
            return
        }
        uv_poll_start(handle, interest.rawValue) { handle, status, events in
            let poll = Handle.owner(handle!.pointee.data, as: Poll.self)
            // libuv stops a watcher after an error. With an empty interest, the next call of `watch` starts the watcher again.
            if status < 0 { Loop.assumeIsolated { poll.interest = [] } }
            let ready = status < 0 ? [.readable, .writable] : Poll.Interest(rawValue: events)
            Loop.assumeIsolated { poll.action(ready) }
        }
    }
}
