import CLibuv

/// One timer of the loop. Starting it again moves it; releasing it ends it.
@Loop package final class Timer {
    private let handle: UnsafeMutablePointer<uv_timer_t>
    private let action: @Loop () -> Void

    package init(_ action: @escaping @Loop () -> Void) {
        self.action = action
        handle = .allocate(capacity: 1)
        uv_timer_init(uv_default_loop(), handle)
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    isolated deinit {
        Handle.close(handle)
    }

    /// - Parameters:
    ///   - delay: rounded up to whole milliseconds, counted from now, not from the beginning of the turn.
    ///   - interval: when given, the timer goes on at this interval.
    package func start(after delay: Duration, every interval: Duration? = nil) {
        uv_update_time(uv_default_loop())
        begin(after: delay.milliseconds, every: interval?.milliseconds ?? 0)
    }

    private func begin(after delay: UInt64, every interval: UInt64) {
        uv_timer_start(
            handle,
            { handle in
                let timer = Handle.owner(handle!.pointee.data, as: Timer.self)
                Loop.assumeIsolated { timer.action() }
            }, delay, interval)
    }

    /// - Parameter time: by ``Loop/milliseconds``; at once if it is over, however long this turn has lasted.
    package func start(at time: UInt64) {
        let now = Loop.readMilliseconds()
        begin(after: time > now ? time - now : 0, every: 0)
    }

    package func stop() {
        uv_timer_stop(handle)
    }

    package var isRunning: Bool {
        handle.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { uv_is_active($0) } != 0
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, none below zero.
    package var milliseconds: UInt64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        return UInt64(seconds).multiplied(saturating: 1000).adding(
            saturating: UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
}

/// What all libuv handles share: a way to their Swift owner, and memory that is freed only after libuv has closed them.
enum Handle {
    /// The owner that was stored, unretained, in the handle's `data`.
    @inline(__always)
    static func owner<Owner: AnyObject>(_ data: UnsafeMutableRawPointer?, as: Owner.Type) -> Owner {
        Unmanaged<Owner>.fromOpaque(data!).takeUnretainedValue()
    }

    /// Closes the handle; its memory is freed by the loop, in a later turn.
    static func close<Kind>(_ handle: UnsafeMutablePointer<Kind>) {
        let raw = UnsafeMutableRawPointer(handle)
        uv_close(raw.assumingMemoryBound(to: uv_handle_t.self)) { handle in
            UnsafeMutableRawPointer(handle!).deallocate()
        }
    }
}
