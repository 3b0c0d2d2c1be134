import Synchronization

/// Limits the number of tests that run at the same time.
/// A farm needs little CPU time, so two cores can run a few farms at a time. With more farms, each farm would wait for CPU time.
final class TestSlots: Sendable {
    static let shared = TestSlots(12)

    private struct Waiter {
        let limit: Duration
        let start: CheckedContinuation<Void, Never>
    }
    private let state: Mutex<(free: Int, waiting: [Waiter])>

    private init(_ count: Int) { state = Mutex((count, [])) }

    func acquire(_ limit: Duration) async {
        await withCheckedContinuation { start in
            let isFree = state.withLock { state in
                if state.free == 0 {
                    state.waiting.append(Waiter(limit: limit, start: start))
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { start.resume() }
        }
    }

    func release() {
        let next = state.withLock { state -> Waiter? in
            guard
                let index = state.waiting.indices.max(by: {
                    state.waiting[$0].limit < state.waiting[$1].limit
                })
            else {
                state.free += 1
                return nil
            }
            return state.waiting.remove(at: index)
        }
        next?.start.resume()
    }
}
