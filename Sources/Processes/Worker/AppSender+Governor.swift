import APNs
import FarmPolicy

/// What the governor hears of the sender.
extension AppSender {
    func makeGovernor() -> AppGovernor {
        let governor = AppGovernor(context, app: name, pool: pool) { [unowned self] in schedule() }
        governor.sight = { [unowned self] in
            AppGovernor.Observation(
                delivered: counts.delivered, isAtWork: pool.openStreams > 0 || !window.held.isEmpty,
                isStopped: !breaker.isClosed)
        }
        return governor
    }

    /// An answer that was no acceptance.
    func note(_ verdict: Verdict, of batch: HeldBatch, _ position: Int) {
        switch verdict {
        case .serverTrouble, .outcomeUnknown: governor.troubled()
        case .throttled: governor.throttled(device: batch.device(of: position))
        default: governor.refused()
        }
    }
}

extension HeldBatch {
    /// Tells devices apart, as a rule: a part of the token.
    func device(of position: Int) -> UInt64 {
        batch.bytes[batch.pushes[position].token].suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
