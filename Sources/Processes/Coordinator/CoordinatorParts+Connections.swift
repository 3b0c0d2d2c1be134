import EventLoop
import StoreProtocol

/// Connects parts to parts that are created after them.
extension CoordinatorParts {
    func connect(_ context: HostContext) {
        let lifecycle = context.lifecycle
        registration.makeHeartbeat = { [status] in status.heartbeat }
        registration.onHeartbeat = { [handOver, scaling] in
            handOver.proceed()
            scaling.evaluate()
        }
        registration.onNameLost = { [shutdown, context] in
            let failure = CoordinatorError.hostNameTaken(context.host)
            if lifecycle.isStopping {
                lifecycle.stop(because: failure)
            } else {
                shutdown.stop(because: failure)
            }
        }
        takeover.onNameTaken = { [operations, metrics] in
            await operations.openControlSocket()
            metrics.open()
            operations.readSoon()
        }
        listener.onCommand = { command in carryOut(command) }
    }

    /// Does what another host or an operator has announced.
    private func carryOut(_ command: HostCommand) {
        switch command {
        case .hosts: registration.heartbeatSoon()
        case .left(let host): registration.hostLeft(host)
        case .free(let app):
            apps[app]?.leases.wake()
            leases.wake()
        case .feedback(let app):
            apps[app]?.feedback.wake()
            apps[app]?.readFeedbackSoon()
        case .release: shards.releaseQuarantine()
        case .operation: operations.readSoon()
        case .other: for app in apps.all { app.refreshSoon() }
        }
    }
}
