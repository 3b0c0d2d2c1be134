/// Compares a batch with the state that Redis has, or with the outcomes that this worker knows from an earlier checkout.
extension HeldBatch {
    /// Compares the batch with the map that Redis returns (see `load_state` in Scripts/Shared/batches.lua), and adopts the
    /// granted credit. If Redis has lost writes, the granted credit may be less than the credit that this worker had received.
    ///
    /// Outcomes that Redis has lost become unreported again. Pushes with outcomes from other owners are not
    /// sent.
    /// - Returns: whether Redis has lost an outcome.
    @discardableResult
    func reconcile(_ map: [UInt8], granted: Int) -> Bool {
        var hasForgotten = false
        for position in positions.indices where position < map.count {
            let isMissed = faults.has(.forgetsToRepeat) && positions[position].isReported
            let isOpen = map[position] == UInt8(ascii: ".") && !isMissed
            // "p" marks an open push of a paused job. The push must not be sent, but if this worker knows its outcome, the
            // outcome must be reported.
            let isUnknown = isOpen || map[position] == UInt8(ascii: "p") && !isMissed
            switch positions[position] {
            case .open where !isOpen:
                positions[position] = .known
                reported += 1
            case .delivered where !isUnknown, .other where !isUnknown: markReported(position)
            case .reportedDelivered where isUnknown, .reportedOther where isUnknown:
                hasForgotten = forgetReport(position) || hasForgotten
            case .known where isOpen:
                positions[position] = .open
                reported -= 1
                cursor = min(cursor, position)
                hasForgotten = true
            default: continue
            }
        }
        setGranted(granted)
        recount()
        return hasForgotten
    }

    /// Marks a reported outcome as unreported, because Redis has lost the report.
    private func forgetReport(_ position: Int) -> Bool {
        let isDelivered = positions[position] == .reportedDelivered
        if !isDelivered, ownership != .ours, outcomes[position]?.isFact != true { return false }
        positions[position] = isDelivered ? .delivered : .other
        reported -= 1
        unreported += 1
        return true
    }

    /// Restores outcomes that this worker knows from an earlier checkout of the batch, so that the pushes with these outcomes are
    /// not sent again.
    func restore(_ past: ReleasedBatch) {
        guard past.positions.count == count, !faults.has(.restoresNothing) else { return }
        outcomes = past.outcomes
        timestamps = past.timestamps
        reports = past.reports
        for position in positions.indices {
            let wasDelivered = past.positions[position] == .reportedDelivered
            guard wasDelivered || past.positions[position] == .reportedOther else { continue }
            switch positions[position] {
            case .known: positions[position] = wasDelivered ? .reportedDelivered : .reportedOther
            case .open:
                positions[position] = wasDelivered ? .delivered : .other
                unreported += 1
            default: continue
            }
        }
        recount()
    }
}
