import ControlChannel
import EventLoop
import Gateway
import Logging

/// What connections tell.
extension AppSender {
    func hasRoom(_ connection: any GatewayConnection) { schedule() }

    func isSpent(_ connection: any GatewayConnection, reason: String) {
        context.log.debug("connection spent", metadata: ["app": "\(name)", "reason": "\(reason)"])
        schedule()
    }

    func ended(_ connection: any GatewayConnection, reason: String) {
        pool.remove(connection)
        context.log.info("connection ended", metadata: ["app": "\(name)", "reason": "\(reason)"])
        schedule()
    }

    func dialFailed(_ reason: String, refusedByPeer: Bool) {
        context.log.warning("cannot connect", metadata: ["app": "\(name)", "reason": "\(reason)"])
        schedule()
        guard refusedByPeer, pool.refusalsInARow >= 3, hold == nil else { return }
        hold = .doubt
        context.tell(.doubt(app: name, .credentialsWrong, generation: generation, reason: reason))
    }

    func dialPauseEnded() { schedule() }
}
