import EventLoop
import Foundation

/// An order to end this process: SIGINT, SIGTERM or a call of ``signal()``. The object handles signals as long as it
/// exists.
@Loop final class EndSignal {
    /// Called for each order after the first.
    var onRepeat: (@Loop () -> Void)?
    private(set) var isGiven = false
    private var watchers: [SignalWatcher] = []
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init() {
        watchers = [SIGINT, SIGTERM].map { number in SignalWatcher(number) { [unowned self] in signal() } }
    }

    func signal() {
        guard !isGiven else {
            onRepeat?()
            return
        }
        isGiven = true
        for waiter in waiters { waiter.resume() }
        waiters.removeAll()
    }

    func wait() async {
        guard !isGiven else { return }
        await withCheckedContinuation { waiters.append($0) }
    }
}
