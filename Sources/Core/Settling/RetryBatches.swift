import PushModel
import StoreProtocol

/// Puts what an entry tries again into batches: one for all that is due at the same time.
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

    /// Adds a segment, whose attempts so far are counted in it.
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
