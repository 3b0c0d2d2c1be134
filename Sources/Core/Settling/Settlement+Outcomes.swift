import PushModel
import StoreProtocol

/// Adds outcomes to the last job in the settlement's list of jobs.
extension Settlement {
    var job: String { jobs[jobs.count - 1].id }

    /// Counts gateway responses to pushes of the last job.
    mutating func countResponses(_ count: Int) {
        if ScreeningJob.isScreening(job) { screened += count } else { responses += count }
    }

    mutating func deliver(_ item: WorkerReport.Item, _ tokens: Range<Int>, in entry: WorkerReport) {
        jobs[jobs.count - 1].delivered += item.count
        guard !tokens.isEmpty else { return }
        for token in entry.tokens[tokens] {
            events.append(FarmEvent(.pushDelivered, job: job, token: entry.bytes[token.range]))
        }
    }

    /// - Parameter name: the name of the reason in the job record.
    mutating func fail(_ count: Int, _ reason: String, as name: String) {
        jobs[jobs.count - 1].failed += count
        jobs[jobs.count - 1].reasons[name, default: 0] += count
    }

    mutating func fail(_ count: Int, _ reason: FarmReason) {
        fail(count, reason.rawValue, as: reason.rawValue)
    }

    /// Records the pushes of each unreadable item as failed, and adds the entry's bytes to the settlement.
    mutating func failUnreadable(of entry: WorkerReport) {
        for item in entry.unreadable {
            let job = entry.text(item.jobID)
            if jobs.last?.id != job { jobs.append(Job(id: job)) }
            fail(item.count, .unreadable)
        }
        guard let first = entry.unreadable.first else { return }
        unreadable = Unreadable(
            why: first.error.description, pushes: entry.unreadable.reduce(0) { $0 + $1.count },
            original: entry.bytes)
    }

    /// Adds a dead letter for pushes that failed although their tokens are valid.
    mutating func keepDeadLetter(
        _ jobPart: Batch.JobPart, of entry: WorkerReport, reason: String, status: UInt16 = 0
    ) {
        var builder = BatchBuilder()
        entry.bytes[jobPart.encoded].withUnsafeBytes {
            builder.append(
                jobPart: $0, tokens: jobPart.pushes.count, jobID: Array(entry.bytes[jobPart.jobID]),
                isAtMostOnce: jobPart.options.delivery == .atMostOnce)
        }
        guard let body = builder.finish() else { return }
        letters.append(
            NewDeadLetter(
                job: job, reason: reason, status: Int(status), pushes: jobPart.pushes.count, body: body))
    }

    mutating func expire(_ count: Int) { jobs[jobs.count - 1].expired += count }

    /// - Parameter mayBeDuplicated: whether the pushes may have been delivered already.
    mutating func delay(_ count: Int, mayBeDuplicated: Bool) {
        jobs[jobs.count - 1].delayed += count
        if mayBeDuplicated { jobs[jobs.count - 1].maybeDuplicated += count }
    }

    /// Adds one event per token, unless the job asks for no receipts.
    mutating func addEvents(
        _ kind: FarmEvent.Kind, _ tokens: some Sequence<Range<Int>>, of entry: WorkerReport,
        _ receipts: Receipts,
        reason: String = "", cause: String = "", status: UInt16 = 0
    ) {
        guard receipts != .none else { return }
        for token in tokens {
            events.append(
                FarmEvent(
                    kind, job: job, token: entry.bytes[token], reason: reason, cause: cause,
                    status: Int(status)))
        }
    }

    /// Adds events about failed tokens. An invalid token gets an event even if the job asks for no receipts, because later jobs
    /// may contain the same token.
    ///
    /// - Parameters:
    ///   - shard: returns a token's shard.
    ///   - now: the time in Unix seconds.
    mutating func addEvents(
        _ failure: WorkerReport.Failure, reason: String, in entry: WorkerReport, now: Int64,
        shard: (ArraySlice<UInt8>) -> Int
    ) {
        let tokens = entry.tokens[failure.tokens]
        for token in tokens where failure.receipts != .none {
            events.append(
                FarmEvent(
                    .pushFailed, job: job, token: entry.bytes[token.range], reason: reason,
                    cause: entry.text(failure.cause), status: Int(failure.status), timestamp: token.timestamp)
            )
        }
        guard failure.isInvalidToken else { return }
        let cause = SuppressionReason(response: reason, status: Int(failure.status))
        let scope = cause == nil ? nil : failure.scope.flatMap { SuppressionScope(text: entry.text($0)) }
        if let scope { scopes.insert(scope) }
        for token in tokens {
            let bytes = entry.bytes[token.range]
            let record = scope.map {
                SuppressionRecord(
                    reason: cause, scope: $0.number,
                    time: token.timestamp > 0 ? min(token.timestamp / 1000, now) : now, token: bytes)
            }
            var dead = InvalidToken(
                shard: shard(bytes), record: record,
                event: FarmEvent(
                    .tokenInvalid, job: job, token: bytes, reason: reason, status: Int(failure.status),
                    timestamp: token.timestamp))
            dead.isScreened = ScreeningJob.isScreening(job)
            invalidTokens.append(dead)
        }
    }
}
