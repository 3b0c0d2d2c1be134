import PushModel
import StoreProtocol

/// Packs an entry's retries into batches. A batch contains at most 256 retries, all of one shard and with one delay.
struct RetryBatches {
    private struct Open {
        let delay: Duration
        let shard: Int
        var builder = BatchBuilder()
    }

    private static let positions = 256

    private let lane: Lane
    private let shards: Int
    private var open: [Open] = []

    init(lane: Lane, shards: Int) { (self.lane, self.shards) = (lane, shards) }

    /// Adds a job part. The job part already contains the increased number of attempts.
    mutating func append(_ jobPart: Batch.JobPart, of entry: WorkerReport, after delay: Duration) {
        let token = entry.pushes[jobPart.pushes.lowerBound].token
        let shard = entry.bytes[token].withUnsafeBytes { ShardHash.shard(of: $0, shards: shards) }
        let found = open.firstIndex {
            $0.delay == delay && $0.shard == shard
                && $0.builder.count + jobPart.pushes.count <= Self.positions
        }
        if found == nil { open.append(Open(delay: delay, shard: shard)) }
        entry.bytes[jobPart.encoded].withUnsafeBytes {
            open[found ?? open.count - 1].builder.append(
                jobPart: $0, tokens: jobPart.pushes.count, jobID: Array(entry.bytes[jobPart.jobID]),
                isAtMostOnce: jobPart.options.delivery == .atMostOnce)
        }
    }

    mutating func finish() -> [Settlement.Retry] {
        let retries = open.indices.compactMap { index in
            let tokens = open[index].builder.count
            return open[index].builder.finish().map { body in
                Settlement.Retry(
                    shard: open[index].shard, lane: lane, delay: open[index].delay, tokens: tokens, body: body
                )
            }
        }
        open = []
        return retries
    }
}

/// Builds dead letters for a batch's positions that failed because their worker was lost: one dead letter per job part.
struct DeadLetterBuilder {
    static let cause = "worker lost"

    private let batch: Batch
    private let reason: FarmReason
    private var builder = BatchBuilder()
    private var jobPart: UInt16?
    private var letters: [Settlement.NewDeadLetter] = []

    init(of batch: Batch, reason: FarmReason) { (self.batch, self.reason) = (batch, reason) }

    mutating func append(_ push: Batch.Push) {
        let jobPart = batch.jobParts[Int(push.jobPart)]
        batch.bytes.withUnsafeBytes { bytes in
            if push.jobPart != self.jobPart {
                close()
                self.jobPart = push.jobPart
                let head = JobPartHead(
                    repeating: jobPart, jobID: batch.jobID(of: Int(push.jobPart)), attempt: jobPart.attempt,
                    cause: Self.cause)
                builder.begin(head, payload: UnsafeRawBufferPointer(rebasing: bytes[jobPart.payload]))
            }
            let token = UnsafeRawBufferPointer(rebasing: bytes[push.token])
            if jobPart.hasPayloadPerPush {
                builder.append(token: token, payload: UnsafeRawBufferPointer(rebasing: bytes[push.payload]))
            } else {
                builder.append(token: token)
            }
        }
    }

    mutating func finish() -> [Settlement.NewDeadLetter] {
        close()
        return letters
    }

    private mutating func close() {
        let count = builder.count
        guard let jobPart, let body = builder.finish() else { return }
        letters.append(
            Settlement.NewDeadLetter(
                job: batch.jobID(of: Int(jobPart)), reason: reason.rawValue, pushes: count, body: body))
    }
}
