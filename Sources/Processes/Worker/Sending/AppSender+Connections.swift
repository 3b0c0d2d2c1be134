import APNs
import ControlChannel
import EventLoop
import Gateway
import Logging

/// Events of connections and of the pool.
extension AppSender {
    func hasRoom(_ connection: any GatewayConnection) { schedule() }

    func isSpent(_ connection: any GatewayConnection, reason: String, verdict: Verdict) {
        context.log.debug(
            "connection takes no more pushes", metadata: ["app": "\(name)", "reason": "\(reason)"])
        pool.spent(connection)
        schedule()
        // Such as a certificate for the other environment, which the gateway refuses before the first push.
        guard case .credentialsWrong(let reason) = verdict, suspension == nil else { return }
        suspension = .doubt
        pool.retireAll()
        context.notify(.doubt(app: name, .credentialsWrong, generation: generation, reason: reason))
    }

    func wasWrong(_ connection: any GatewayConnection, count: Int, reason: String) {
        context.log.error(
            "the gateway rejected pushes that had counted as delivered",
            metadata: ["app": "\(name)", "pushes": "\(count)", "reason": "\(reason)"])
        context.notify(.late(app: name, pushes: UInt32(clamping: count), reason: reason))
    }

    func ended(_ connection: any GatewayConnection, reason: String) {
        pool.remove(connection, reason: reason)
        context.log.info("connection ended", metadata: ["app": "\(name)", "reason": "\(reason)"])
        schedule()
    }

    func dialFailed(_ reason: String, refusedByPeer: Bool) {
        context.log.warning("cannot connect", metadata: ["app": "\(name)", "reason": "\(reason)"])
        schedule()
        guard refusedByPeer, pool.refusalsInARow >= 3, suspension == nil else { return }
        suspension = .doubt
        context.notify(.doubt(app: name, .credentialsWrong, generation: generation, reason: reason))
    }

    func dialPauseEnded() { schedule() }
}
