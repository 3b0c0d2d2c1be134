package import EventLoop
import RedisProtocol
package import Registry
package import Segments
package import StoreProtocol

/// Evaluates segments over all devices of an app, one chunk of ordinals at a time.
///
/// The scan reads bitmaps in pipelines of at most ``window`` commands. A bitmap has at most 8 KiB, so at most 2 MB are in flight.
@Loop package struct SegmentScan {
    /// A chunk of one partition, with the bitmaps of the segments' terms.
    package struct Chunk: Sendable {
        package let partition: Int
        /// The number of the chunk in its partition.
        package let number: Int
        package let evaluation: ChunkEvaluation
    }

    /// The number of commands of a pipeline.
    private static let window = 256

    /// The place of one bitmap to read.
    private struct Read {
        let partition: Int
        let chunk: Int
        /// The bitmap's number in its partition, as in ``SegmentPlan/numbers``.
        let name: Int
    }

    private let reader: RegistryReader
    /// For each partition, its plan and its number of chunks.
    private let partitions: [(plan: SegmentPlan, chunks: Int)]
    /// The next bitmap to request: its partition, its chunk, and its index in ``SegmentPlan/numbers``.
    private var cursor = (partition: 0, chunk: 0, index: 0)
    private var reads: ArraySlice<Read> = []
    private var replies: ArraySlice<RESPValue> = []

    /// - Parameter today: the number of days since 1970-01-01 UTC.
    package init(
        _ expressions: [SegmentExpression], today: Int, _ reader: RegistryReader,
        _ partitions: [PartitionState]
    ) {
        self.reader = reader
        self.partitions = partitions.map { state in
            (SegmentPlan(expressions, state.attributes, today: today), state.chunks)
        }
    }

    /// Reads and evaluates the next chunk. Skips chunks that cannot contain a device of any of the segments.
    /// - Returns: nil after the last chunk.
    package mutating func next() async throws(StoreError) -> Chunk? {
        var evaluation: ChunkEvaluation?
        while true {
            if reads.isEmpty { try await fill() }
            guard let read = reads.popFirst(), let reply = replies.popFirst() else { return nil }
            let plan = partitions[read.partition].plan
            var current = evaluation ?? ChunkEvaluation(plan)
            // Without this line, `evaluation` and `current` share storage, and a change of `current` copies the
            // storage.
            evaluation = nil
            if !reply.isNull {
                guard let bytes = reply.bytes, current.add(bytes, of: read.name) else {
                    throw reader.unreadable(.bits(name: read.name, chunk: read.chunk), in: read.partition)
                }
            }
            guard read.name != plan.numbers.last else {
                return Chunk(partition: read.partition, number: read.chunk, evaluation: current)
            }
            evaluation = current
        }
    }

    /// Requests the next bitmaps.
    private mutating func fill() async throws(StoreError) {
        var reads: [Read] = []
        while reads.count < Self.window, let read = nextRead() { reads.append(read) }
        let commands = reads.map {
            reader.command("GET", .bits(name: $0.name, chunk: $0.chunk), in: $0.partition)
        }
        replies = try await reader.replies(commands)[...]
        self.reads = reads[...]
    }

    private mutating func nextRead() -> Read? {
        while cursor.partition < partitions.count {
            let (plan, chunks) = partitions[cursor.partition]
            if cursor.chunk < chunks, cursor.index < plan.numbers.count {
                defer { cursor.index += 1 }
                return Read(
                    partition: cursor.partition, chunk: cursor.chunk, name: plan.numbers[cursor.index])
            }
            if cursor.chunk < chunks, !plan.numbers.isEmpty {
                cursor = (cursor.partition, cursor.chunk + 1, 0)
            } else {
                cursor = (cursor.partition + 1, 0, 0)
            }
        }
        return nil
    }
}
