import Gateway
import PushModel

/// Positions leave for the gateway, and come back with what became of them.
extension HeldBatch {
    /// The next position to send, which then is in the air; `nil` when there is none within the credit.
    func next() -> Int? {
        guard hasNext else { return nil }
        cursor += 1
        return take(cursor - 1)
    }

    var hasNext: Bool {
        guard maySend else { return false }
        while cursor < min(granted, count), positions[cursor] != .open { cursor += 1 }
        return cursor < min(granted, count)
    }

    /// Settles what may be sent and is past its job's deadline, whether or not there is a connection to send it on.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: how many positions.
    func expire(now: Int64) -> Int {
        guard standing == .ours else { return 0 }
        var count = 0
        for segment in batch.segments {
            guard let deadline = segment.options.deadline, deadline <= now else { continue }
            for position in segment.pushes where position < granted && positions[position] == .open {
                settle(take(position), .expired)
                count += 1
            }
        }
        return count
    }

    /// A position that certainly was not processed may be sent again, before those behind it.
    func giveBack(_ position: Int) {
        precondition(
            positions[position] == .inAir, "position \(position) given back in \(positions[position])")
        positions[position] = .open
        inAir -= 1
        if !isExposed(position) { exposure -= 1 }
        cursor = min(cursor, position)
    }

    func segment(of position: Int) -> Int { Int(batch.pushes[position].segment) }

    func head(of segment: Int, appTopic: String) -> PushHead {
        segmentInUse.head(of: segment, in: batch, appTopic: appTopic)
    }

    func pushID(of position: Int, token: UnsafeRawBufferPointer) -> PushID {
        segmentInUse.job(of: segment(of: position), in: batch).pushID(token: token)
    }

    func delivered(_ position: Int) {
        land(position, as: .delivered)
        if standing == .ended { drop(position) }
    }

    /// - Parameter timestamp: milliseconds since 1970 when the gateway found the token dead.
    func settle(_ position: Int, _ fact: ReportedOutcome, timestamp: Int64? = nil) {
        land(position, as: .other)
        facts[position] = fact
        timestamps[position] = timestamp
        if standing == .ended || standing == .stale && !fact.isFinal { drop(position) }
    }

    private func land(_ position: Int, as state: Position) {
        precondition(positions[position] == .inAir, "position \(position) settled in \(positions[position])")
        positions[position] = state
        inAir -= 1
        settled += 1
    }

    private func drop(_ position: Int) {
        keep(position)
        exposure -= 1
    }

    private func take(_ position: Int) -> Int {
        positions[position] = .inAir
        inAir += 1
        return position
    }
}
