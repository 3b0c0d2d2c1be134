import ControlChannel
import EventLoop
import FarmPolicy
import FarmStore
import Logging
import Supervision

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A new program takes this one's place: another coordinator of the same host, which gets the leases a few shards at a time.
///
/// The one that ends takes nothing more. It withdraws shards from its workers, and gives each lease back as soon as nothing
/// of it is in the air; the new one, which is at work already, takes it at once. Other hosts see one host all along.
extension Coordinator {
    // MARK: The one that ends

    /// Which program is started is this host's own configuration's to say: who writes to Redis must not run programs.
    func upgrade(_ isDry: Bool, _ operation: Operation?) async throws(OperationRefusal) -> String {
        if let obstacle { throw OperationRefusal(obstacle) }
        let program: String
        do throws(FileTrust.Objection) {
            program = try FileTrust.program(configuration.program ?? options.program)
        } catch { throw OperationRefusal("not started: \(error)") }
        if isDry { return "would start \(program), and hand \(ownedShards) shards over to it" }
        guard let lock else { throw OperationRefusal("the coordinator is starting") }
        return try await alone("upgrade") { () async throws(OperationRefusal) in
            let successor: Successor
            do {
                successor = try Successor(
                    program, arguments: options.arguments, environment: options.variables, lock: lock
                ) {
                    [changes] in changes.ring()
                }
            } catch { throw OperationRefusal("\(program) does not start: \(error)") }
            self.successor = successor
            defer { self.successor = nil }
            log.notice("upgrade begins", metadata: ["program": "\(program)", "pid": "\(successor.pid)"])
            operation?.progress("process \(successor.pid) starts")
            try await whenReady(successor)
            try await handOver(to: successor, operation)
            log.notice("upgrade done", metadata: ["pid": "\(successor.pid)"])
            return "process \(successor.pid) has taken over from \(getpid())"
        }
    }

    /// Who takes this process's end for the service's: the new one would be lost to it.
    private var obstacle: String? {
        if getpid() == 1 {
            return "process 1 cannot be replaced, its end is the container's: start a new container"
        }
        // supervisord and `pushfarm up`; honcho; foreman.
        let signs = ["SUPERVISOR_ENABLED=", "HONCHO_PROCESS_NAME=", "PS=coordinator."]
        guard options.variables.contains(where: { variable in signs.contains { variable.hasPrefix($0) } })
        else { return nil }
        return
            "supervisord, foreman and pushfarm up lose sight of a new process: restart the service there instead"
    }

    private var ownedShards: Int { apps.values.reduce(0) { $0 + $1.leases.tokens.count } }

    private func whenReady(_ successor: Successor) async throws(OperationRefusal) {
        _ = await changes.until(.now + .seconds(60)) { [unowned self] in
            successor.isReady || successor.hasEnded || isStopping || isAborted
        }
        guard successor.isReady, !isStopping, !isAborted else {
            let reason =
                successor.hasEnded
                ? "the new coordinator has ended (\(successor.how)), see the log"
                : isAborted ? "aborted" : "the new coordinator was not ready within 60 s"
            successor.abort()
            throw OperationRefusal(reason + "; this one goes on")
        }
    }

    private func handOver(to successor: Successor, _ operation: Operation?) async throws(OperationRefusal) {
        isHandingOver = true
        log.notice("handing over", metadata: ["shards": "\(ownedShards)"])
        for app in apps.values { handOverSome(app) }
        let all = ownedShards
        let isEmpty = await changes.until(.now + .seconds(120)) { [unowned self] in
            operation?.progress("\(all - ownedShards) of \(all) shards handed over")
            return !apps.values.contains(where: \.leases.isOwner) || successor.hasEnded || isAborted
                || isStopping
        }
        guard isEmpty, !successor.hasEnded, !isAborted, !isStopping else {
            isHandingOver = false
            successor.abort()
            takeBack()
            throw .failed(
                "not handed over: \(successor.hasEnded ? "the new coordinator has ended" : "aborted"); this one goes on"
            )
        }
        await endChildren()
        // From here on the host's line is the other's.
        isSucceeded = true
        metrics?.close()
        successor.tell(.hostClaim(nonce: nonce))
        guard
            await changes.until(.now + .seconds(20), { successor.isSeated || successor.hasEnded }),
            successor.isSeated
        else {
            isSucceeded = false
            successor.abort()
            // Everything of ours has ended: the next process begins again, at once under systemd.
            failure = .successorLost
            stop()
            throw .failed("the new coordinator has ended after everything was handed over")
        }
        service.succeeded(by: successor.pid)
        stop()
    }

    /// Takes part again. What the other has got is free again when it has ended.
    private func takeBack() {
        for app in apps.values { app.leases.comeBack() }
        renewSoon()
        reassign()
    }

    func abortUpgrade(_ isDry: Bool) throws(OperationRefusal) -> String {
        guard successor != nil else { return "no upgrade is under way" }
        if isDry { return "would end the new coordinator, and take back what it has" }
        isAborted = true
        changes.ring()
        Loop.task {
            _ = await self.changes.until(.now + .seconds(60)) { self.successor == nil }
            self.isAborted = false
        }
        return "the new coordinator gives everything back"
    }

    /// The next shards of an app, when fewer than some are on their way.
    func handOverSome(_ app: HostedApp) {
        app.leases.handOverSome()
        letGo(app)
        leaseBell.ring()
    }

    // MARK: The one that begins

    /// Waits for the host's name, with everything else at work.
    func awaitSeat(_ lock: HostLock) async throws {
        let link = ControlLink<SuccessionNotice, SuccessionOrder>(
            descriptor: ControlDescriptor.child, peer: "coordinator before")
        var order: SuccessionOrder?
        var isAlone = false
        link.onMessage = { [changes] next in
            order = next
            changes.ring()
        }
        link.onEnd = { [changes] _ in
            isAlone = true
            changes.ring()
        }
        let isReady = await changes.until(.now + .seconds(50)) { [unowned self] in
            slots.prefix(placement.size).allSatisfy { $0.isReady } && intake?.state == .ready || order != nil
                || isAlone || isStopping
        }
        if isReady { link.tell(.ready) }
        _ = await changes.until(.now + .seconds(600)) { [unowned self] in
            order != nil || isAlone || isStopping
        }
        switch order {
        case .hostClaim(let before):
            // It is gone, or nearly: nothing of it is in anybody's hands.
            predecessor = before
            try await takeSeat()
            lock.take(nonce)
            isSucceeding = false
            log.notice("took over from the coordinator before")
            for app in apps.values { app.hostsAreGone() }
            await control.open()
            openMetrics()
            Loop.task { await self.lookForOperations() }
            link.tell(.seated)
            link.sendNow()
        case .abort, nil:
            guard isAlone, order == nil, !isStopping else {
                isSucceeding = false
                if !isStopping { log.notice("not to take over after all") }
                isUnseated = true
                if !isStopping { stop() }
                return
            }
            log.warning("the coordinator before has ended in the middle: its leases end by themselves")
            try await takeSeat()
            lock.take(nonce)
            isSucceeding = false
            await control.open()
            openMetrics()
            Loop.task { await self.lookForOperations() }
        }
        succession = link
    }
}
