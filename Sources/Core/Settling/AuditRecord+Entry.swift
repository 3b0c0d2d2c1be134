import PushModel
import StoreProtocol

extension AuditRecord {
    /// Builds the audit record of a results entry. The record has the outcomes and retries as the worker reported them,
    /// even if settling the entry turns a retry into a failure or an expiry.
    init(of entry: WorkerReport) {
        self.init()
        for item in entry.items {
            let job = entry.jobID(of: item)
            func named(_ tokens: Range<Int>) -> [ArraySlice<UInt8>] {
                entry.tokens[tokens].map { entry.bytes[$0.range] }
            }
            func pushes(_ jobPart: Batch.JobPart) -> [ArraySlice<UInt8>] {
                entry.pushes[jobPart.pushes].map { entry.bytes[$0.token] }
            }
            switch item.result {
            case .delivered(let tokens):
                if tokens.isEmpty {
                    append(.delivered, job: job, marks: entry.bytes[item.marks])
                } else {
                    append(.delivered, job: job, tokens: named(tokens))
                }
            case .failed(let failure):
                append(
                    .failed, job: job, reason: entry.text(failure.reason), status: failure.status,
                    tokens: named(failure.tokens))
            case .letter(let letter):
                append(
                    .failed, job: job, reason: entry.text(letter.reason), status: letter.status,
                    tokens: pushes(letter.jobPart))
            case .expired(let expiry):
                append(
                    .expired, job: job, reason: entry.text(expiry.cause), tokens: named(expiry.tokens))
            case .retry(let retry):
                append(
                    .retry, job: job, reason: entry.text(retry.reason), status: retry.status,
                    tokens: pushes(retry.jobPart))
            }
        }
    }

    /// Builds the audit record of pushes that failed because their worker was lost.
    init(of letters: [Settlement.NewDeadLetter]) {
        self.init()
        for letter in letters {
            guard let batch = try? Batch(decoding: letter.body) else { continue }
            append(
                .failed, job: letter.job, reason: letter.reason,
                tokens: batch.pushes.map { batch.bytes[$0.token] })
        }
    }
}
