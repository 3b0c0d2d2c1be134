import EventLoop
import FarmPolicy

/// Restarts workers, as operators say: one after the other, or at once.
extension Coordinator {
    func restart(
        _ slot: WorkerSlot?, isRolling: Bool, _ isDry: Bool, _ operation: Operation
    ) async throws(OperationRefusal) -> String {
        let chosen = slot.map { [$0] } ?? Array(slots.prefix(placement.size))
        if isDry {
            return "would restart \(chosen.map { "worker \($0.index) (\($0.pid))" }.joined(separator: ", "))"
        }
        return try await alone("restart") { () async throws(OperationRefusal) in
            if slot == nil { intake?.renew(within: .seconds(5)) }
            if isRolling {
                for (number, slot) in chosen.enumerated() {
                    operation.progress("\(number) of \(chosen.count) workers restarted")
                    try await roll(slot)
                }
            } else {
                for slot in chosen { try await renew(slot) { slot.renewOrStart() } }
            }
            return chosen.count == 1
                ? "worker \(chosen[0].index) is process \(chosen[0].pid) now"
                : "\(chosen.count) workers restarted"
        }
    }

    /// Empties a worker, restarts its process, and returns when it delivers.
    private func roll(_ slot: WorkerSlot) async throws(OperationRefusal) {
        if placement.seated > 1, slot.isReady { try await empty(slot) }
        try await renew(slot) { slot.renewOrStart() }
        // Its next one goes when this one delivers again, or has nothing to deliver.
        let from = slot.beat.delivered + slot.beat.failed
        _ = await changes.until(.now + .seconds(20)) { [unowned self] in
            let settled = slot.beat.delivered + slot.beat.failed
            return settled > from || isStopping
                || slot.hasBeaten && slot.beat.batches == 0 && pressure.batches == 0
        }
    }

    private func renew(
        _ slot: WorkerSlot, _ act: @Loop () -> Void
    ) async throws(OperationRefusal) {
        let before = slot.name
        act()
        let isReady = await changes.until(.now + .seconds(60)) { [unowned self] in
            slot.name != before && slot.isReady || slot.state == .failed || isStopping
        }
        guard isReady, slot.isReady, slot.name != before else {
            throw .failed("worker \(slot.index) does not become ready; the others are as they were")
        }
        placement.wake(slot.index)
        reassign()
    }
}

extension WorkerSlot {
    /// The process finishes and another one starts; where there is none, one starts.
    fileprivate func renewOrStart() {
        if pid > 0, state != .stopped { renew(within: .seconds(20)) } else { startAnew() }
    }
}
