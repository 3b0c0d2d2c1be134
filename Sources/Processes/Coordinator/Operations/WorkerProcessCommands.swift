import EventLoop

/// The commands `restart`, `kill` and `stop` for workers.
@Loop struct WorkerProcessCommands {
    unowned let context: HostContext

    // MARK: restart

    /// - Parameters:
    ///   - slot: the worker to restart; nil means all workers and the intake.
    ///   - isRolling: whether each worker is drained before its restart, and the next restart follows when this worker delivers
    ///     again.
    func restart(
        _ slot: WorkerSlot?, isRolling: Bool, _ isDry: Bool, _ operation: RunningCommand
    ) async throws(OperationRefusal) -> String {
        let chosen = slot.map { [$0] } ?? Array(context.fleet.slots.prefix(context.shards.placement.size))
        if isDry {
            return
                "would restart \(chosen.map { "worker \($0.index) (\($0.child.pid))" }.joined(separator: ", "))"
        }
        return try await context.operationLock.run("restart") { () async throws(OperationRefusal) in
            if slot == nil { context.fleet.intake?.child.replace(within: .seconds(5)) }
            for (number, slot) in chosen.enumerated() {
                guard isRolling else {
                    try await replace(slot)
                    continue
                }
                operation.progress("\(number) of \(chosen.count) workers restarted")
                try await drainAndReplace(slot)
            }
            return chosen.count == 1
                ? "worker \(chosen[0].index) is process \(chosen[0].child.pid) now"
                : "\(chosen.count) workers restarted"
        }
    }

    /// Drains a worker, replaces its process, and returns when the new process delivers or has nothing to deliver.
    private func drainAndReplace(_ slot: WorkerSlot) async throws(OperationRefusal) {
        if context.shards.placement.active > 1, slot.child.isReady {
            try await context.shards.drain(slot.index)
        }
        try await replace(slot)
        // Wait until this worker delivers again or has nothing to deliver, because the caller then restarts the next worker.
        let from = slot.heartbeat.delivered + slot.heartbeat.failed
        _ = await context.changes.until(.now + .seconds(20)) {
            let settled = slot.heartbeat.delivered + slot.heartbeat.failed
            return settled > from || context.lifecycle.isStopping
                || slot.hasHeartbeat && slot.heartbeat.batches == 0 && context.admission.batches == 0
        }
    }

    private func replace(_ slot: WorkerSlot) async throws(OperationRefusal) {
        let before = slot.name
        slot.replaceOrStart()
        let isReady = await context.changes.until(.now + .seconds(60)) {
            slot.name != before && slot.child.isReady || slot.child.state == .failed
                || context.lifecycle.isStopping
        }
        guard isReady, slot.child.isReady, slot.name != before else {
            throw .failed(
                "worker \(slot.index) does not become ready; the workers after it were not replaced")
        }
        context.shards.resume(slot.index)
    }

    // MARK: stop, kill

    func stop(_ slot: WorkerSlot, _ isDry: Bool) async throws(OperationRefusal) -> String {
        let index = slot.index
        if slot.child.state == .stopped, slot.child.pid == 0 { return "worker \(index) had ended already" }
        guard context.shards.hasOthers(than: index) else {
            throw OperationRefusal(
                "worker \(index) is the only one that serves: stop the host, or scale up first")
        }
        if isDry { return "worker \(index) would end" }
        return try await context.operationLock.run("stop of worker \(index)") {
            () async throws(OperationRefusal) in
            try await context.shards.drain(index)
            await slot.child.stop(within: .seconds(20))
            return "worker \(index) has ended; restart or scale starts it"
        }
    }

    func kill(_ slot: WorkerSlot?, hasTrace: Bool, _ isDry: Bool) throws(OperationRefusal) -> String {
        guard let slot else { throw OperationRefusal("name one worker, such as HOST/0") }
        guard slot.child.pid > 0 else { throw OperationRefusal("worker \(slot.index) has no process now") }
        let how = hasTrace ? "SIGABRT, then SIGKILL" : "SIGKILL"
        if isDry { return "would end process \(slot.child.pid) of worker \(slot.index) by \(how)" }
        let pid = slot.child.pid
        slot.child.kill(hasTrace: hasTrace)
        return "process \(pid) of worker \(slot.index) is ended by \(how)"
    }
}
