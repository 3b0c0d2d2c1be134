import Delivery
import FarmPolicy

/// What the governor observes of the sender.
extension AppSender {
    func makeGovernor() -> AppGovernor {
        let governor = AppGovernor(context, app: name, pool: pool) { [unowned self] in schedule() }
        governor.observe = { [unowned self] in
            AppGovernor.Observation(
                delivered: counts.delivered, isAtWork: pool.openStreams > 0 || !window.isEmpty,
                isStopped: !troubles.isClosed)
        }
        return governor
    }
}
