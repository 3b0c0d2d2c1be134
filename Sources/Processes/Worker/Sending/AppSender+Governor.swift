import FarmPolicy

/// What the governor is told of the sender.
extension AppSender {
    func makeGovernor() -> AppGovernor {
        let governor = AppGovernor(context, app: name, pool: pool) { [unowned self] in schedule() }
        governor.observe = { [unowned self] in
            AppGovernor.Observation(
                delivered: counts.delivered, isAtWork: pool.openStreams > 0 || !window.held.isEmpty,
                isStopped: !troubles.isClosed)
        }
        return governor
    }
}

extension HeldBatch {
    /// Tells devices apart, as a rule: a part of the token.
    func device(of position: Int) -> UInt64 {
        batch.bytes[batch.pushes[position].token].suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
