import FarmStore
import PushModel

/// Reports: what is settled goes to Redis, and is forgotten when Redis has it.
extension HeldBatch {
    /// Puts the settled positions into a report.
    ///
    /// - Returns: their runs, the results entry, and whether it holds only what is true whoever says it; `nil` when
    ///   nothing is settled or a report is under way.
    func beginReport(
        _ builder: inout ResultsBuilder
    ) -> (runs: PositionRuns, entry: [UInt8], areFacts: Bool)? {
        guard !isReporting, settled > 0 else { return nil }
        var areFacts = true
        let runs = takeRuns()
        for (index, segment) in batch.segments.enumerated() {
            appendDelivered(segment, to: &builder)
            appendOthers(index, segment, to: &builder, &areFacts)
        }
        isReporting = true
        (reporting, settled) = (settled, 0)
        guard let entry = builder.finish() else { preconditionFailure("a report without results") }
        return (runs, entry, areFacts)
    }

    /// Something else of the batch is under way, such as a request for credit.
    func beginAsking() { isReporting = true }

    /// Redis has the report.
    func reportAccepted() {
        isReporting = false
        for position in positions.indices {
            guard positions[position] == .reportingDelivered || positions[position] == .reportingOther else {
                continue
            }
            hand(position)
        }
        reporting = 0
    }

    /// Redis has not got the report, or nobody knows: its positions are settled again.
    func reportFailed() {
        isReporting = false
        for position in positions.indices {
            switch positions[position] {
            case .reportingDelivered: positions[position] = .delivered
            case .reportingOther: positions[position] = .other
            default: continue
            }
        }
        (reporting, settled) = (0, settled + reporting)
    }

    /// Redis knew some positions already: these are handed over, the others are still to be reported.
    func reportRefused(map: [UInt8]) {
        reportFailed()
        for position in positions.indices where position < map.count && map[position] != UInt8(ascii: ".") {
            switch positions[position] {
            case .delivered, .other:
                hand(position)
                settled -= 1
            case .open: hand(position)
            case .inAir, .reportingDelivered, .reportingOther, .handed: continue
            }
        }
    }

    /// Forgets what only the batch's holder may say; what is left is true whoever says it.
    func keepFinalFactsOnly() {
        for (position, fact) in facts where positions[position] == .other && !fact.isFinal {
            hand(position)
            settled -= 1
        }
    }

    private func hand(_ position: Int) {
        positions[position] = .handed
        facts[position] = nil
        timestamps[position] = nil
        handed += 1
        if position < granted { exposure -= 1 }
    }

    private func takeRuns() -> PositionRuns {
        var runs = PositionRuns()
        var first: Int?
        func end(_ position: Int) {
            if let start = first { runs.append(start..<position) }
            first = nil
        }
        for position in positions.indices {
            switch positions[position] {
            case .delivered: positions[position] = .reportingDelivered
            case .other: positions[position] = .reportingOther
            default:
                end(position)
                continue
            }
            if first == nil { first = position }
        }
        end(count)
        return runs
    }

    private func appendDelivered(_ segment: Batch.Segment, to builder: inout ResultsBuilder) {
        batch.bytes.withUnsafeBytes { bytes in
            var hasBegun = false
            for position in segment.pushes where positions[position] == .reportingDelivered {
                if !hasBegun {
                    builder.beginDelivered(
                        jobID: UnsafeRawBufferPointer(rebasing: bytes[segment.jobID]),
                        receipts: segment.options.receipts)
                    hasBegun = true
                }
                builder.append(token: UnsafeRawBufferPointer(rebasing: bytes[batch.pushes[position].token]))
            }
        }
    }

    private func appendOthers(
        _ index: Int, _ segment: Batch.Segment, to builder: inout ResultsBuilder, _ areFacts: inout Bool
    ) {
        guard !facts.isEmpty else { return }
        var groups: [Fact: [Int]] = [:]
        for position in segment.pushes where positions[position] == .reportingOther {
            if let fact = facts[position] { groups[fact, default: []].append(position) }
        }
        for (fact, members) in groups {
            areFacts = areFacts && fact.isFinal
            append(fact, members, of: segment, index, to: &builder)
        }
    }

    private func append(
        _ fact: Fact, _ members: [Int], of segment: Batch.Segment, _ index: Int,
        to builder: inout ResultsBuilder
    ) {
        batch.bytes.withUnsafeBytes { bytes in
            let jobID = UnsafeRawBufferPointer(rebasing: bytes[segment.jobID])
            let receipts = segment.options.receipts
            let cause = batch.text(segment.cause)
            switch fact {
            case .failed(let reason, let status, let isDead):
                builder.beginFailed(
                    jobID: jobID, reason: reason, cause: cause, status: status, isDead: isDead,
                    receipts: receipts)
            case .lostTrack(let why):
                builder.beginFailed(
                    jobID: jobID, reason: FarmReason.unknown.rawValue, cause: why, isUnknown: true,
                    receipts: receipts)
            case .expired: builder.beginExpired(jobID: jobID, cause: cause, receipts: receipts)
            case .retry(let why, let status, let reason, let retryAfter):
                let head = SegmentHead(
                    repeating: segment, jobID: batch.jobID(of: index), attempt: segment.attempt &+ 1,
                    cause: reason)
                builder.beginRetry(
                    head, payload: UnsafeRawBufferPointer(rebasing: bytes[segment.payload]), why: why,
                    status: status, reason: reason, retryAfterMilliseconds: retryAfter)
            }
            for position in members {
                let push = batch.pushes[position]
                let token = UnsafeRawBufferPointer(rebasing: bytes[push.token])
                if case .retry = fact, segment.hasPayloadPerPush {
                    builder.append(
                        token: token, payload: UnsafeRawBufferPointer(rebasing: bytes[push.payload]))
                } else {
                    builder.append(token: token, timestamp: timestamps[position] ?? 0)
                }
            }
        }
    }
}
