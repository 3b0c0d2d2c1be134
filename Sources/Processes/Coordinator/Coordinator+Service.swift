import EventLoop
import Supervision

/// What the service manager hears of this host.
extension Coordinator {
    /// Looks after the children, and tells how things are.
    func lookAtChildren() -> ServiceStatus {
        for slot in slots { slot.watch() }
        intake?.watch()
        let present = slots.filter { $0.index < placement.size || $0.pid > 0 }
        return ServiceStatus(
            phase: service.phase, isRedisThere: redis.isReady, hosts: membership.hosts.count,
            readyWorkers: present.count(where: \.isReady),
            workers: isStopping ? present.count : placement.size,
            rate: slots.reduce(0) { $0 &+ $1.rate }, open: pressure.openPushes,
            paused: apps.values.filter { $0.credentials.pauseReason != nil }.map(\.name), refusal: refusal)
    }
}
