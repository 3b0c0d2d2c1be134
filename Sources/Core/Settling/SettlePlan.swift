package import FarmPolicy
package import PushModel
package import StoreProtocol

/// Computes the effects of results entries on job records, retries, invalid tokens and events, without I/O.
package struct SettlePlan {
    private let shards: Int
    private let policy: RetryPolicy
    private var reasons = ReasonNames()
    /// Whether the outcome of each push is stored in the audit of outcomes.
    package var isAudited = false

    package init(shards: Int, policy: RetryPolicy) {
        (self.shards, self.policy) = (shards, policy)
    }

    /// Computes the effects of a worker's report.
    ///
    /// - Parameters:
    ///   - lane: the lane of the batch in the report.
    ///   - now: the time in Unix seconds.
    ///   - random: spreads the due times of retries. All retries of one entry use the same random number, so that retries with
    ///     equal delays can be in one batch.
    package mutating func settlement(
        of id: EntryID, report bytes: [UInt8], lane: Lane, now: Int64,
        using random: inout some RandomNumberGenerator
    ) throws(EntryFault) -> Settlement {
        let entry = try EntryFault.translate { () throws(CodecError) in try WorkerReport(salvaging: bytes) }
        var settlement = Settlement(entry: id)
        var retries = RetryBatches(lane: lane, shards: shards)
        var seed: UInt64?
        var last: Range<Int>?
        for item in entry.items {
            if last.map({ !entry.bytes[$0].elementsEqual(entry.bytes[item.jobID]) }) ?? true {
                settlement.jobs.append(Settlement.Job(id: entry.jobID(of: item)))
                last = item.jobID
            }
            switch item.result {
            case .delivered(let tokens):
                settlement.deliver(item, tokens, in: entry)
                settlement.countResponses(item.count)
            case .failed(let failure):
                let text = Self.reason(entry.text(failure.reason))
                settlement.fail(item.count, text, as: reasons.name(text))
                if FarmReason(rawValue: text) == nil { settlement.countResponses(item.count) }
                settlement.addEvents(failure, reason: text, in: entry, now: now) { token in
                    token.withUnsafeBytes { ShardHash.shard(of: $0, shards: shards) }
                }
            case .letter(let letter):
                let text = Self.reason(entry.text(letter.reason))
                settlement.fail(item.count, text, as: reasons.name(text))
                if FarmReason(rawValue: text) == nil { settlement.countResponses(item.count) }
                settlement.keepDeadLetter(letter.jobPart, of: entry, reason: text, status: letter.status)
                settlement.addEvents(
                    .pushFailed, entry.pushes[letter.jobPart.pushes].lazy.map(\.token), of: entry,
                    letter.jobPart.options.receipts, reason: text, cause: entry.text(letter.jobPart.cause),
                    status: letter.status)
            case .expired(let expiry):
                settlement.expire(item.count)
                settlement.addEvents(
                    .pushExpired, entry.tokens[expiry.tokens].lazy.map(\.range), of: entry, expiry.receipts,
                    cause: entry.text(expiry.cause))
            case .retry(let retry):
                let start = seed ?? random.next()
                seed = start
                settle(retry, item.count, of: entry, now: now, seed: start, &settlement, &retries)
            }
        }
        settlement.retries = retries.finish()
        settlement.failUnreadable(of: entry)
        if isAudited { settlement.audit = AuditRecord(of: entry).bytes }
        return settlement
    }

    /// Returns the given reason, or `unreadable` if the reason is empty.
    private static func reason(_ text: String) -> String {
        text.isEmpty ? FarmReason.unreadable.rawValue : text
    }

    /// Computes a settlement that contains only counts, for an entry whose full settlement Redis refused. Pushes that were not
    /// delivered fail as unreadable, and Redis keeps the entry's bytes in `unreadable`.
    ///
    /// - Parameter why: the error text from Redis.
    package func countsOnlySettlement(of record: ResultsStreamEntry, why: String) throws(EntryFault)
        -> Settlement
    {
        var settlement = Settlement(entry: record.id)
        settlement.lane = record.lane
        var unread = 0
        func add(_ job: String, delivered: Int = 0, unreadable: Int = 0) {
            if settlement.jobs.last?.id != job { settlement.jobs.append(Settlement.Job(id: job)) }
            settlement.jobs[settlement.jobs.count - 1].delivered += delivered
            unread += unreadable
            if unreadable > 0 { settlement.fail(unreadable, .unreadable) }
        }
        let original: [UInt8]
        switch record.content {
        case .report(let bytes):
            original = bytes
            let entry = try EntryFault.translate { () throws(CodecError) in
                try WorkerReport(salvaging: bytes)
            }
            for item in entry.items {
                if case .delivered = item.result {
                    add(entry.jobID(of: item), delivered: item.count)
                } else {
                    add(entry.jobID(of: item), unreadable: item.count)
                }
            }
            for item in entry.unreadable { add(entry.text(item.jobID), unreadable: item.count) }
        case .closed(_, let body, let positions):
            original = body
            for (job, count) in try Self.counts(of: body, positions) { add(job, unreadable: count) }
        case .gone: return settlement
        case .unreadable(let why): throw .form(why)
        }
        if unread > 0 {
            settlement.unreadable = Settlement.Unreadable(why: why, pushes: unread, original: original)
        }
        return settlement
    }

    /// Counts the positions of each job. Only the batch's table of job parts is read, so the rest of the batch may be unreadable.
    private static func counts(
        of body: [UInt8], _ positions: [Range<Int>]
    ) throws(EntryFault) -> [(job: String, count: Int)] {
        let table = try EntryFault.translate { () throws(CodecError) in try Batch.table(body) }
        return table.map { row in
            (row.job, positions.reduce(0) { $0 + $1.clamped(to: row.positions).count })
        }
    }

    /// Computes the effects of positions that failed because their worker was lost.
    package mutating func settlement(
        of id: EntryID, closed reason: FarmReason, body: [UInt8], positions: [Range<Int>]
    ) throws(EntryFault) -> Settlement {
        var settlement = Settlement(entry: id)
        let batch: Batch
        do throws(CodecError) { batch = try Batch(decoding: body) } catch {
            var unread = 0
            for (job, count) in try Self.counts(of: body, positions) where count > 0 {
                settlement.jobs.append(Settlement.Job(id: job))
                settlement.fail(count, .unreadable)
                unread += count
            }
            settlement.unreadable = Settlement.Unreadable(why: "\(error)", pushes: unread, original: body)
            return settlement
        }
        var letters = DeadLetterBuilder(of: batch, reason: reason)
        var jobPart: UInt16?
        // Positions outside the batch belong to no push and are ignored.
        for position in positions.lazy.map({ $0.clamped(to: batch.pushes.indices) }).joined() {
            let push = batch.pushes[position]
            if push.jobPart != jobPart {
                settlement.jobs.append(Settlement.Job(id: batch.jobID(of: Int(push.jobPart))))
                jobPart = push.jobPart
            }
            settlement.fail(1, reason.rawValue, as: reason.rawValue)
            letters.append(push)
            guard batch.jobParts[Int(push.jobPart)].options.receipts != .none else { continue }
            settlement.events.append(
                FarmEvent(
                    .pushFailed, job: settlement.job, token: batch.bytes[push.token], reason: reason.rawValue,
                    cause: DeadLetterBuilder.cause))
        }
        settlement.letters = letters.finish()
        if isAudited { settlement.audit = AuditRecord(of: settlement.letters).bytes }
        return settlement
    }

    private mutating func settle(
        _ retry: WorkerReport.Retry, _ count: Int, of entry: WorkerReport, now: Int64, seed: UInt64,
        _ settlement: inout Settlement, _ retries: inout RetryBatches
    ) {
        let options = retry.jobPart.options
        let cause = entry.text(retry.reason)
        let tokens = entry.pushes[retry.jobPart.pushes].lazy.map(\.token)
        func fail(_ reason: String, as name: String, cause: String) {
            settlement.fail(count, reason, as: name)
            settlement.keepDeadLetter(retry.jobPart, of: entry, reason: reason, status: retry.status)
            settlement.addEvents(
                .pushFailed, tokens, of: entry, options.receipts, reason: reason, cause: cause,
                status: retry.status)
        }
        func fail(_ reason: FarmReason) { fail(reason.rawValue, as: reason.rawValue, cause: cause) }
        if retry.why == .unknownOutcome, options.delivery == .atMostOnce { return fail(.unknown) }

        var random = SeededRandom(seed: seed)
        let wait = retry.retryAfterMilliseconds
        let decision = policy.decide(
            retry.why, attempts: Int(retry.jobPart.attempt), maxAttempts: Int(options.maxAttempts),
            deadline: options.deadline, now: now, retryAfter: wait == 0 ? nil : .milliseconds(wait),
            using: &random)
        switch decision {
        case .retry(let delay):
            settlement.delay(count, mayBeDuplicated: retry.why == .unknownOutcome)
            settlement.retried.append((retry.why, count))
            retries.append(retry.jobPart, of: entry, after: delay)
        case .exhausted: fail(.exhausted)
        case .refused:
            let reason = Self.reason(cause)
            fail(reason, as: reasons.name(reason), cause: "")
        case .expired:
            settlement.expire(count)
            settlement.addEvents(.pushExpired, tokens, of: entry, options.receipts, cause: cause)
        }
    }
}

/// Why a results entry cannot be settled, not even in part.
package enum EntryFault: Error, Equatable, CustomStringConvertible {
    case unreadable(CodecError)
    /// The entry is neither a report nor a list of positions that failed because their worker was lost.
    case form(String)

    package var description: String {
        switch self {
        case .unreadable(let error): error.description
        case .form(let words): words
        }
    }

    static func translate<Value>(_ decode: () throws(CodecError) -> Value) throws(EntryFault) -> Value {
        do throws(CodecError) { return try decode() } catch { throw .unreadable(error) }
    }
}

/// The names under which job records count failures. Gateways may send arbitrary reasons, but a job record has room for only a
/// few names.
struct ReasonNames {
    private static let other = "Other"
    private static let longest = 64
    private static let most = 128

    private var known: Set<String> = []

    init() {}

    /// Returns the name for a reason. The name is `Other` if the reason is too long or is not printable ASCII, or if the maximum
    /// number of names is reached.
    mutating func name(_ reason: String) -> String {
        if known.contains(reason) { return reason }
        guard known.count < Self.most, (1...Self.longest).contains(reason.utf8.count),
            reason.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return Self.other }
        known.insert(reason)
        return reason
    }
}
