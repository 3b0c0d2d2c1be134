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

    /// Adds a segment. The segment already contains the increased number of attempts.
    mutating func append(_ segment: Batch.Segment, of entry: ResultsEntry, after delay: Duration) {
        let token = entry.pushes[segment.pushes.lowerBound].token
        let shard = entry.bytes[token].withUnsafeBytes { ShardHash.shard(of: $0, shards: shards) }
        let found = open.firstIndex {
            $0.delay == delay && $0.shard == shard
                && $0.builder.count + segment.pushes.count <= Self.positions
        }
        if found == nil { open.append(Open(delay: delay, shard: shard)) }
        entry.bytes[segment.encoded].withUnsafeBytes {
            open[found ?? open.count - 1].builder.append(
                segment: $0, tokens: segment.pushes.count, jobID: Array(entry.bytes[segment.jobID]),
                isAtMostOnce: segment.options.delivery == .atMostOnce)
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

/// Builds dead letters for a batch's positions that failed because their worker was lost: one dead letter per segment.
struct DeadLetterBuilder {
    static let cause = "worker lost"

    private let batch: Batch
    private let reason: FarmReason
    private var builder = BatchBuilder()
    private var segment: UInt16?
    private var letters: [Settlement.NewDeadLetter] = []

    init(of batch: Batch, reason: FarmReason) { (self.batch, self.reason) = (batch, reason) }

    mutating func append(_ push: Batch.Push) {
        let segment = batch.segments[Int(push.segment)]
        batch.bytes.withUnsafeBytes { bytes in
            if push.segment != self.segment {
                close()
                self.segment = push.segment
                let head = SegmentHead(
                    repeating: segment, jobID: batch.jobID(of: Int(push.segment)), attempt: segment.attempt,
                    cause: Self.cause)
                builder.begin(head, payload: UnsafeRawBufferPointer(rebasing: bytes[segment.payload]))
            }
            let token = UnsafeRawBufferPointer(rebasing: bytes[push.token])
            if segment.hasPayloadPerPush {
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
        guard let segment, let body = builder.finish() else { return }
        letters.append(
            Settlement.NewDeadLetter(
                job: batch.jobID(of: Int(segment)), reason: reason.rawValue, pushes: count, body: body))
    }
}
