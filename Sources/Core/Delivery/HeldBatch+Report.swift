import PushModel
import StoreProtocol

/// Reports a batch's outcomes to Redis, and keeps the outcomes until the batch is released.
extension HeldBatch {
    /// Puts unreported outcomes into a report. A report contains either only outcomes that Redis accepts from any worker, such as
    /// deliveries, or only outcomes that Redis accepts only from the owner, such as retries.
    ///
    /// Outcomes that Redis accepts from any worker are reported first, because another worker may own the batch.
    /// - Returns: `nil` when all outcomes are reported or a report is in progress.
    func beginReport(_ builder: inout ResultsBuilder) -> OutcomeReport? {
        guard !isReporting, unreported > 0 else { return nil }
        var runs = takeRuns(facts: true)
        let hasOnlyFacts = !runs.isEmpty
        if !hasOnlyFacts { runs = takeRuns(facts: false) }
        for (index, jobPart) in batch.jobParts.enumerated() {
            appendDelivered(jobPart, to: &builder)
            appendOthers(index, jobPart, to: &builder)
        }
        isReporting = true
        reporting = runs.count
        unreported -= runs.count
        guard let entry = builder.finish() else { preconditionFailure("a report without results") }
        let report = OutcomeReport(runs: runs, entry: entry, hasOnlyFacts: hasOnlyFacts)
        current = report
        return report
    }

    /// Marks the batch as busy with another call to Redis, such as a request for credit.
    func beginAsking() { isReporting = true }

    /// Marks the positions of the report as reported, because Redis accepted the report.
    func reportAccepted() {
        endReport { $0 == .reportingDelivered ? .reportedDelivered : .reportedOther }
        reported += reporting
        creditInUse -= reporting
        if let current { reports.append(current) }
        (reporting, current) = (0, nil)
    }

    /// Marks the positions of the report as unreported, because Redis may not have received the report.
    func reportFailed() {
        endReport { $0 == .reportingDelivered ? .delivered : .other }
        unreported += reporting
        (reporting, current) = (0, nil)
    }

    private func endReport(_ next: (PushState) -> PushState) {
        isReporting = false
        guard reporting > 0 else { return }
        for position in positions.indices {
            let state = positions[position]
            guard state == .reportingDelivered || state == .reportingOther else { continue }
            positions[position] = next(state)
        }
    }

    private func takeRuns(facts: Bool) -> PositionRuns {
        var runs = PositionRuns()
        var first: Int?
        func end(_ position: Int) {
            if let start = first { runs.append(start..<position) }
            first = nil
        }
        for position in positions.indices {
            switch positions[position] {
            case .delivered: positions[position] = .reportingDelivered
            case .other where outcomes[position]?.isFact == facts: positions[position] = .reportingOther
            default:
                end(position)
                continue
            }
            if first == nil { first = position }
        }
        end(count)
        return runs
    }

    private func appendDelivered(_ jobPart: Batch.JobPart, to builder: inout ResultsBuilder) {
        batch.bytes.withUnsafeBytes { bytes in
            var hasBegun = false
            for position in jobPart.pushes where positions[position] == .reportingDelivered {
                if !hasBegun {
                    builder.beginDelivered(
                        jobID: UnsafeRawBufferPointer(rebasing: bytes[jobPart.jobID]),
                        receipts: jobPart.options.receipts)
                    hasBegun = true
                }
                builder.append(token: UnsafeRawBufferPointer(rebasing: bytes[batch.pushes[position].token]))
            }
        }
    }

    private func appendOthers(
        _ index: Int, _ jobPart: Batch.JobPart, to builder: inout ResultsBuilder
    ) {
        guard !outcomes.isEmpty else { return }
        var groups: [UndeliveredResult: [Int]] = [:]
        for position in jobPart.pushes where positions[position] == .reportingOther {
            if let outcome = outcomes[position] { groups[outcome, default: []].append(position) }
        }
        for (outcome, members) in groups {
            append(outcome, members, of: jobPart, index, to: &builder)
        }
    }

    private func append(
        _ outcome: UndeliveredResult, _ members: [Int], of jobPart: Batch.JobPart, _ index: Int,
        to builder: inout ResultsBuilder
    ) {
        batch.bytes.withUnsafeBytes { bytes in
            let jobID = UnsafeRawBufferPointer(rebasing: bytes[jobPart.jobID])
            let payload = UnsafeRawBufferPointer(rebasing: bytes[jobPart.payload])
            let receipts = jobPart.options.receipts
            let cause = batch.text(jobPart.cause)
            func head(attempt: UInt8, cause: String) -> JobPartHead {
                JobPartHead(
                    repeating: jobPart, jobID: batch.jobID(of: index), attempt: attempt, cause: cause)
            }
            switch outcome {
            case .tokenFailed(let reason, let status, let isInvalidToken, let scope):
                builder.beginFailed(
                    jobID: jobID, reason: reason, cause: cause, status: status,
                    isInvalidToken: isInvalidToken, scope: scope,
                    receipts: receipts)
            case .suppressed(let why):
                builder.beginFailed(
                    jobID: jobID, reason: FarmReason.suppressed.rawValue, cause: why, receipts: receipts)
            case .deadLetter(let reason, let status):
                builder.beginDeadLetter(
                    head(attempt: jobPart.attempt &+ 1, cause: cause), payload: payload, reason: reason,
                    status: status)
            case .becameUnknown(let why):
                builder.beginDeadLetter(
                    head(attempt: jobPart.attempt &+ 1, cause: why), payload: payload,
                    reason: FarmReason.unknown.rawValue)
            case .expired: builder.beginExpired(jobID: jobID, cause: cause, receipts: receipts)
            case .retry(let why, let status, let reason, let retryAfter):
                builder.beginRetry(
                    head(attempt: why.isAttempt ? jobPart.attempt &+ 1 : jobPart.attempt, cause: reason),
                    payload: payload, why: why, status: status, reason: reason,
                    retryAfterMilliseconds: retryAfter)
            }
            for position in members {
                let push = batch.pushes[position]
                let token = UnsafeRawBufferPointer(rebasing: bytes[push.token])
                if outcome.bringsJobPart, jobPart.hasPayloadPerPush {
                    builder.append(
                        token: token, payload: UnsafeRawBufferPointer(rebasing: bytes[push.payload]))
                } else {
                    builder.append(token: token, timestamp: timestamps[position] ?? 0)
                }
            }
        }
    }
}
