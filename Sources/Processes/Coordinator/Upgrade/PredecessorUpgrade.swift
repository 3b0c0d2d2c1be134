import ControlChannel
import EventLoop
import Supervision

/// Takes over the host's name from the predecessor, which started this process in an upgrade.
@Loop final class PredecessorUpgrade {
    private unowned let context: HostContext
    /// The control channel to the predecessor; nil when the predecessor has exited.
    private var link: ControlLink<SuccessorNotice, SuccessorMessage>?
    private var message: SuccessorMessage?
    private var hasPredecessorEnded = false

    init(_ context: HostContext) { self.context = context }

    /// Tells the predecessor when the children are ready, and waits until the upgrade succeeds or fails.
    func run(_ lock: HostLock) async throws {
        let link = connect()
        let isReady = await context.changes.until(.now + .seconds(50)) {
            areChildrenReady || isDecided
        }
        if isReady { link.send(.ready) }
        _ = await context.changes.until(.now + .seconds(600)) { isDecided }
        switch message {
        case .hostClaim(let nonce):
            // The predecessor's children have ended, and the predecessor has exited or will exit soon. So this process
            // need not wait, and replaces the predecessor's heartbeat entry at once.
            context.registration.predecessor = nonce
            try await takeName(lock)
            context.log.notice("this coordinator took over from its predecessor")
            for app in context.apps.all { app.claimAbandonedResults() }
            await serveAsHost()
            link.send(.nameClaimed)
            link.sendNow()
        case nil where hasPredecessorEnded && !context.lifecycle.isStopping:
            context.log.warning(
                "the predecessor exited during the upgrade: its leases will expire")
            try await takeName(lock)
            await serveAsHost()
        case .abort, nil:
            if !context.lifecycle.isStopping {
                context.log.notice("the upgrade was aborted: this new coordinator exits")
                context.shutdown.stop()
            }
        }
        self.link = link
    }

    private var isDecided: Bool { message != nil || hasPredecessorEnded || context.lifecycle.isStopping }

    private var areChildrenReady: Bool {
        context.fleet.slots.prefix(context.shards.placement.size).allSatisfy(\.child.isReady)
            && context.fleet.intake?.child.state == .ready
    }

    private func connect() -> ControlLink<SuccessorNotice, SuccessorMessage> {
        let link = ControlLink<SuccessorNotice, SuccessorMessage>(
            descriptor: ControlDescriptor.child, peer: "predecessor")
        link.onMessage = { [unowned self] message in
            self.message = message
            context.changes.signal()
        }
        link.onEnd = { [unowned self] _ in
            hasPredecessorEnded = true
            context.changes.signal()
        }
        return link
    }

    private func takeName(_ lock: HostLock) async throws {
        try await context.registration.claimName()
        lock.store(context.nonce)
        context.lifecycle.takeHostName()
    }

    private func serveAsHost() async {
        await context.operations.control.open()
        context.metrics.open()
        context.operations.readSoon()
    }
}
