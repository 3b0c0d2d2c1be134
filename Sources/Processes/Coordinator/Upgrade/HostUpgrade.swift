import EventLoop
import Glibc
import Supervision

/// Replaces this coordinator by a new process of the same host, the successor, which may run a newer program. The
/// successor gets the leases, a few shards at a time.
///
/// This process takes no new work and takes the shards from its workers. When a shard has no push in flight, this
/// process releases the shard's lease, and the successor, which already runs, acquires the lease at once. For other
/// hosts, the two processes are one host.
@Loop final class HostUpgrade {
    private unowned let context: HostContext
    /// The host lock, which the successor inherits; nil while the coordinator starts.
    var lock: HostLock?
    private var successor: Successor?

    init(_ context: HostContext) { self.context = context }

    private var lifecycle: Lifecycle { context.lifecycle }

    /// Runs the whole upgrade. The successor runs the program that this host's configuration names, or else the program
    /// of this process. The operator's command cannot name a program, because users who can write to Redis must not be
    /// able to start programs of their choice.
    func run(_ isDry: Bool, _ operation: RunningCommand?) async throws(OperationRefusal) -> String {
        if let refusalReason { throw OperationRefusal(refusalReason) }
        let program = try installedProgram()
        if isDry { return "would start \(program), and hand \(context.apps.ownedShards) shards over to it" }
        return try await context.operationLock.run("upgrade") { () async throws(OperationRefusal) in
            guard let lock, lifecycle.phase == .serving else {
                throw OperationRefusal("the coordinator is starting or stopping")
            }
            let successor = try start(program, lock)
            self.successor = successor
            lifecycle.beginUpgrade()
            defer {
                lifecycle.endUpgrade()
                self.successor = nil
            }
            context.log.notice(
                "upgrade begins", metadata: ["program": "\(program)", "pid": "\(successor.pid)"])
            operation?.progress("process \(successor.pid) starts")
            try await waitUntilReady(successor)
            try await handOverShards(to: successor, operation)
            try await giveUpHostName(to: successor)
            context.log.notice("upgrade done", metadata: ["pid": "\(successor.pid)"])
            return "process \(successor.pid) has taken over from \(getpid())"
        }
    }

    /// Aborts the upgrade for an operator. The successor hands all leases back.
    func abort(_ isDry: Bool) -> String {
        guard lifecycle.isUpgrading else { return "no upgrade is under way" }
        if isDry { return "would end the new coordinator, and take its shards back" }
        lifecycle.abortUpgrade()
        context.changes.signal()
        return "the new coordinator gives everything back"
    }

    /// Stops the successor together with this process.
    func hostStops() { successor?.abort() }

    // MARK: Start

    private func installedProgram() throws(OperationRefusal) -> String {
        do throws(FileTrust.TrustProblem) {
            return try FileTrust.program(context.configuration.program ?? context.options.program)
        } catch { throw OperationRefusal("not started: \(error)") }
    }

    private func start(_ program: String, _ lock: HostLock) throws(OperationRefusal) -> Successor {
        do {
            return try Successor(
                program, arguments: context.options.arguments, environment: context.options.variables,
                lock: lock
            ) { [changes = context.changes] in changes.signal() }
        } catch { throw OperationRefusal("\(program) does not start: \(error)") }
    }

    /// Why this process cannot be replaced; nil if it can be replaced. Under some service managers, an upgrade is
    /// impossible: when this process ends, they regard the whole service as ended.
    private var refusalReason: String? {
        if getpid() == 1 {
            return "process 1 cannot be replaced, because its end stops the container: start a new container"
        }
        // supervisord and `pushfarm up` set the first of these environment variables, honcho sets the second, and
        // foreman the third.
        let signs = ["SUPERVISOR_ENABLED=", "HONCHO_PROCESS_NAME=", "PS=coordinator."]
        let variables = context.options.variables
        guard variables.contains(where: { variable in signs.contains { variable.hasPrefix($0) } })
        else { return nil }
        return
            "supervisord, foreman and pushfarm up cannot follow a new process: restart the service there instead"
    }

    private func waitUntilReady(_ successor: Successor) async throws(OperationRefusal) {
        _ = await context.changes.until(.now + .seconds(60)) {
            successor.isReady || successor.hasEnded || lifecycle.isStopping || lifecycle.isAborting
        }
        guard successor.isReady, !lifecycle.isStopping, !lifecycle.isAborting else {
            let reason =
                successor.hasEnded
                ? "the new coordinator has ended (\(successor.how)), see the log"
                : lifecycle.isAborting ? "aborted" : "the new coordinator was not ready within 60 s"
            successor.abort()
            throw OperationRefusal(reason + "; this one goes on")
        }
    }

    // MARK: Handing over

    private func handOverShards(
        to successor: Successor, _ operation: RunningCommand?
    ) async throws(OperationRefusal) {
        let all = context.apps.ownedShards
        lifecycle.beginHandOver()
        context.log.notice("handing over shards", metadata: ["shards": "\(all)"])
        for app in context.apps.all { context.handOver.handOverToSuccessor(app) }
        let isEmpty = await context.changes.until(.now + .seconds(120)) {
            operation?.progress("\(all - context.apps.ownedShards) of \(all) shards handed over")
            return !context.apps.haveLeases || successor.hasEnded || lifecycle.isAborting
                || lifecycle.isStopping
        }
        guard isEmpty, !successor.hasEnded, !lifecycle.isAborting, !lifecycle.isStopping else {
            // When the successor exits, it releases the leases that it has already acquired. This process then acquires
            // them again.
            lifecycle.endUpgrade()
            successor.abort()
            context.handOver.resumeAcquiring()
            context.shards.assignAll()
            throw .failed(
                "not handed over: \(successor.hasEnded ? "the new coordinator has ended" : "aborted"); this one goes on"
            )
        }
        lifecycle.beginToEndChildren()
        await context.shutdown.endChildren()
    }

    private func giveUpHostName(to successor: Successor) async throws(OperationRefusal) {
        // After this call, only the successor may write the host's heartbeat entry.
        lifecycle.giveUpHostName()
        context.metrics.close()
        successor.send(.hostClaim(nonce: context.nonce))
        guard
            await context.changes.until(
                .now + .seconds(20), { successor.isNameClaimed || successor.hasEnded }),
            successor.isNameClaimed
        else {
            lifecycle.takeHostNameBack()
            successor.abort()
            // This process has no children left and cannot serve, so it stops. systemd then starts a new coordinator at
            // once.
            context.shutdown.stop(because: .successorLost)
            throw .failed("the new coordinator exited after it had got all shards")
        }
        context.service.handedOver(to: successor.pid)
        context.shutdown.stop()
    }
}
