import PushModel

extension FuzzTarget {
    /// A results entry, as the coordinator reads it from Redis.
    static let results = FuzzTarget(
        "results",
        words: ["\u{1}D", "F", "E", "R", "Unregistered", "\u{0}\u{0}\u{0}\u{1}", "job", "exhausted"]
    ) { bytes throws(Violation) in
        guard let entry = try? WorkerReport(decoding: bytes) else { return }
        try Violation.unless(entry.items.count <= bytes.count / 5, "more items than bytes")
        try Violation.unless(
            entry.tokens.count + entry.pushes.count <= bytes.count / 2, "more tokens than bytes")
        var builder = ResultsBuilder()
        var isText = true
        for item in entry.items {
            // The decoded item does not show which pushes its marks belong to, so an encoding of this item may differ from the
            // input.
            if !item.marks.isEmpty { isText = false }
            builder.rewrite(item, of: entry)
            for text in entry.texts(of: item)
            where String(validating: entry.bytes[text], as: UTF8.self) == nil {
                isText = false
            }
        }
        try Violation.unless(
            !isText || (builder.finish() ?? [1]) == bytes, "written again, it is another entry")
    }
}

extension WorkerReport {
    /// The texts that the format does not require to be UTF-8.
    func texts(of item: Item) -> [Range<Int>] {
        switch item.result {
        case .delivered: []
        case .failed(let failure): [failure.reason, failure.cause]
        case .expired(let expiry): [expiry.cause]
        case .retry(let retry): [retry.reason, retry.jobPart.cause]
        case .letter(let letter): [letter.reason, letter.jobPart.cause]
        }
    }
}

extension ResultsBuilder {
    mutating func rewrite(_ item: WorkerReport.Item, of entry: WorkerReport) {
        entry.bytes.withUnsafeBytes { bytes in
            func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { .init(rebasing: bytes[range]) }
            let jobID = part(item.jobID)
            switch item.result {
            case .delivered(let tokens):
                beginDelivered(jobID: jobID, receipts: tokens.isEmpty ? .failures : .all)
                if tokens.isEmpty { for _ in 0..<item.count { append(token: part(0..<1)) } }
                for token in entry.tokens[tokens] { append(token: part(token.range)) }
            case .failed(let failure):
                beginFailed(
                    jobID: jobID, reason: entry.text(failure.reason), cause: entry.text(failure.cause),
                    status: failure.status, isInvalidToken: failure.isInvalidToken,
                    scope: failure.scope.map { entry.text($0) }, isUnknown: failure.isUnknown,
                    receipts: failure.receipts)
                for token in entry.tokens[failure.tokens] {
                    append(token: part(token.range), timestamp: token.timestamp)
                }
            case .expired(let expiry):
                beginExpired(jobID: jobID, cause: entry.text(expiry.cause), receipts: expiry.receipts)
                for token in entry.tokens[expiry.tokens] { append(token: part(token.range)) }
            case .retry(let retry):
                let jobPart = retry.jobPart
                beginRetry(
                    head(of: item, jobPart, in: entry), payload: part(jobPart.sharedPayload), why: retry.why,
                    status: retry.status, reason: entry.text(retry.reason),
                    retryAfterMilliseconds: retry.retryAfterMilliseconds)
                appendPushes(of: jobPart, in: entry, part)
            case .letter(let letter):
                beginDeadLetter(
                    head(of: item, letter.jobPart, in: entry), payload: part(letter.jobPart.sharedPayload),
                    reason: entry.text(letter.reason), status: letter.status)
                appendPushes(of: letter.jobPart, in: entry, part)
            }
        }
    }

    private func head(of item: WorkerReport.Item, _ jobPart: Batch.JobPart, in entry: WorkerReport)
        -> JobPartHead
    {
        JobPartHead(
            repeating: jobPart, jobID: entry.jobID(of: item), attempt: jobPart.attempt,
            cause: entry.text(jobPart.cause))
    }

    private mutating func appendPushes(
        of jobPart: Batch.JobPart, in entry: WorkerReport, _ part: (Range<Int>) -> UnsafeRawBufferPointer
    ) {
        for push in entry.pushes[jobPart.pushes] {
            if jobPart.hasPayloadPerPush {
                append(token: part(push.token), payload: part(push.payload))
            } else {
                append(token: part(push.token))
            }
        }
    }
}

extension Batch.JobPart {
    fileprivate var sharedPayload: Range<Int> { hasPayloadPerPush ? 0..<0 : payload }
}
