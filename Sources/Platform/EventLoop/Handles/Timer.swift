import CLibuv

/// One timer of the loop. A second start replaces the first. Releasing the timer stops it.
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
    ///   - delay: rounded up to whole milliseconds, counted from this call and not from the start of the turn.
    ///   - interval: if set, the timer repeats at this interval.
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

    /// - Parameter time: a time of ``Loop/milliseconds``. If the time has passed, the timer fires at once. To decide this, the
    ///   function reads the clock now, because ``Loop/milliseconds`` is the time of the turn's start.
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
    /// The duration in whole milliseconds, rounded up; at least 0.
    package var milliseconds: UInt64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        return UInt64(seconds).multiplied(saturating: 1000).adding(
            saturating: UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
}

/// Helpers for all libuv handles: find the Swift owner, and free the memory after libuv has closed the handle.
enum Handle {
    /// Returns the owner whose unretained pointer is stored in the handle's `data`.
    @inline(__always)
    static func owner<Owner: AnyObject>(_ data: UnsafeMutableRawPointer?, as: Owner.Type) -> Owner {
        Unmanaged<Owner>.fromOpaque(data!).takeUnretainedValue()
    }

    /// Closes the handle. The loop frees the handle's memory in a later turn.
    static func close<Kind>(_ handle: UnsafeMutablePointer<Kind>) {
        let raw = UnsafeMutableRawPointer(handle)
        uv_close(raw.assumingMemoryBound(to: uv_handle_t.self)) { handle in
            UnsafeMutableRawPointer(handle!).deallocate()
        }
    }
}
