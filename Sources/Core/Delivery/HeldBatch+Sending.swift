package import APNs
package import PushModel

/// Takes positions for sending, and records their outcomes.
extension HeldBatch {
    /// Takes the next position to send and marks it as in flight; `nil` if no granted position is open.
    package func next() -> Int? {
        guard hasNext else { return nil }
        cursor += 1
        return take(cursor - 1)
    }

    package var hasNext: Bool {
        guard maySend else { return false }
        while cursor < min(granted, count), positions[cursor] != .open { cursor += 1 }
        return cursor < min(granted, count)
    }

    /// Expires sendable positions whose job deadline has passed. Expiry needs no connection to the gateway.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: the number of expired positions.
    func expire(now: Int64) -> Int {
        guard ownership == .ours else { return 0 }
        var count = 0
        for jobPart in batch.jobParts {
            guard let deadline = jobPart.options.deadline, deadline <= now else { continue }
            for position in jobPart.pushes where position < granted && positions[position] == .open {
                record(take(position), as: .expired)
                count += 1
            }
        }
        return count
    }

    /// Reopens a position that the gateway certainly did not process. The reopened position is sent before later positions.
    package func reopen(_ position: Int) {
        precondition(
            positions[position] == .inFlight, "position \(position) given back in \(positions[position])")
        positions[position] = .open
        inFlight -= 1
        if !usesCredit(position) { creditInUse -= 1 }
        cursor = min(cursor, position)
    }

    package func jobPart(of position: Int) -> Int { Int(batch.pushes[position].jobPart) }

    package func head(of jobPart: Int, appTopic: String) -> PushHead {
        sharedHead.head(of: jobPart, in: batch, appTopic: appTopic)
    }

    package func pushID(of position: Int, token: UnsafeRawBufferPointer) -> PushID {
        sharedHead.job(of: jobPart(of: position), in: batch).pushID(token: token)
    }

    /// The last 8 bytes of the token as a number. Two devices rarely have the same number.
    package func device(of position: Int) -> UInt64 {
        batch.bytes[batch.pushes[position].token].suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    func delivered(_ position: Int) {
        close(position, as: .delivered)
        if ownership == .ended { drop(position) }
    }

    /// - Parameter timestamp: the time when the gateway found the token invalid, in milliseconds since 1970.
    func record(_ position: Int, as outcome: UndeliveredResult, timestamp: Int64? = nil) {
        close(position, as: .other)
        outcomes[position] = outcome
        timestamps[position] = timestamp
        if ownership == .ended || ownership == .stale && !outcome.isFact { drop(position) }
    }

    private func close(_ position: Int, as state: PushState) {
        precondition(
            positions[position] == .inFlight,
            "position \(position) given an outcome in \(positions[position])")
        positions[position] = state
        inFlight -= 1
        unreported += 1
    }

    private func drop(_ position: Int) {
        markReported(position)
        creditInUse -= 1
    }

    private func take(_ position: Int) -> Int {
        positions[position] = .inFlight
        inFlight += 1
        return position
    }
}

/// The request head that the pushes of a job part share. The head is built for the first push of a job part, and is kept while
/// pushes of this job part are sent.
struct SharedPushHead {
    private var head: (jobPart: Int, appTopic: String, head: PushHead)?
    private var job: (jobPart: Int, job: PushID.Job)?

    /// Returns the head of a job part. If the previous job part has equal options, its head is returned, so that most jobs need
    /// no new head.
    mutating func head(of jobPart: Int, in batch: Batch, appTopic: String) -> PushHead {
        if let head, head.jobPart == jobPart { return head.head }
        let one = batch.jobParts[jobPart]
        if let last = head, last.head.isRetry == (one.attempt > 0), last.head.options == one.options,
            last.appTopic == appTopic
        {
            head?.jobPart = jobPart
            return last.head
        }
        let made = PushHead(one.options, appTopic: appTopic, isRetry: one.attempt > 0)
        head = (jobPart, appTopic, made)
        return made
    }

    mutating func job(of jobPart: Int, in batch: Batch) -> PushID.Job {
        if let job, job.jobPart == jobPart { return job.job }
        let made = batch.bytes.withUnsafeBytes { bytes in
            PushID.Job(id: UnsafeRawBufferPointer(rebasing: bytes[batch.jobParts[jobPart].jobID]))
        }
        job = (jobPart, made)
        return made
    }
}
