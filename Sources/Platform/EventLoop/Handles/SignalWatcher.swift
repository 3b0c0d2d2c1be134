import CLibuv

/// Calls back on the loop when the process gets a signal. Releasing the watcher restores the default.
@Loop package final class SignalWatcher {
    private let handle: UnsafeMutablePointer<uv_signal_t>
    private let action: @Loop () -> Void

    package init(_ signal: Int32, _ action: @escaping @Loop () -> Void) {
        self.action = action
        handle = .allocate(capacity: 1)
        uv_signal_init(uv_default_loop(), handle)
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        uv_signal_start(
            handle,
            { handle, _ in
                let watcher = Handle.owner(handle!.pointee.data, as: SignalWatcher.self)
                Loop.assumeIsolated { watcher.action() }
            }, signal)
    }

    isolated deinit {
        Handle.close(handle)
    }
}
