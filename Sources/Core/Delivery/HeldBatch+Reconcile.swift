/// A batch beside what Redis knows of it, or what this worker knew of it before.
extension HeldBatch {
    /// Redis shows its map (see `load_state` in Scripts/Shared/batches.lua), and how far it has granted, which may be less than we had.
    ///
    /// What it has forgotten is unreported again; what it knows from others is not sent.
    /// - Returns: whether it has forgotten anything.
    @discardableResult
    func reconcile(_ map: [UInt8], granted: Int) -> Bool {
        var hasForgotten = false
        for position in positions.indices where position < map.count {
            let isMissed = faults.has(.forgetsToRepeat) && positions[position].isReported
            let isOpen = map[position] == UInt8(ascii: ".") && !isMissed
            // A push of a paused job may not be sent; its outcome, if it has one, is still to be reported.
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

    /// Redis has forgotten what was reported.
    private func forgetReport(_ position: Int) -> Bool {
        let isDelivered = positions[position] == .reportedDelivered
        if !isDelivered, ownership != .ours, outcomes[position]?.isFinal != true { return false }
        positions[position] = isDelivered ? .delivered : .other
        reported -= 1
        unreported += 1
        return true
    }

    /// Restores the outcomes from when this worker held the same batch before: those pushes need not be sent again.
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
