import PushModel
import StoreProtocol

/// Packs the pushes of one step into batches by shard, lane and due time.
///
/// Batches of one shard, lane and due time keep the order of the pushes, so a device's pushes stay in order.
struct BatchPacker {
    /// The lane and due time that pushes of a batch share.
    private struct Group: Equatable {
        var lane: Lane
        /// The due time in Unix milliseconds; 0 is now.
        var due: Int64
    }

    /// The unfinished batch of one shard of a group.
    private struct Slot {
        var builder = BatchBuilder()
        /// The number of the job whose segment is open.
        var job = 0
    }

    /// The job whose pushes are being packed.
    private struct Current {
        var number: Int
        var head: SegmentHead
        /// The payload of all pushes of the job; nil if each push has its own payload.
        var payload: Range<Int>?
        /// The first slot of the job's group.
        var firstSlot: Int
        /// The estimated bytes of a segment without its pushes.
        var segmentBytes: Int
    }

    private static let slotsKept = 2
    private static let bytesKept = 1 << 20

    private let shards: Int
    private let limits: StepLimits
    private var endsEarly = false
    private var groups: [Group] = []
    /// One slot for each shard of the first group, then for each shard of the second group, and so on.
    private var slots: [Slot] = []
    private var batches: [Split.NewBatch] = []
    private var openBatches = 0
    private var tokens = 0
    private var bytes = 0
    private var jobs = 0

    init(shards: Int, limits: StepLimits) {
        precondition(shards > 0, "a farm has at least one shard")
        (self.shards, self.limits) = (shards, limits)
    }

    /// Starts a step.
    ///
    /// - Parameter endsEarly: whether more pushes are ready than one step can contain.
    mutating func begin(endsEarly: Bool) {
        precondition(openBatches == 0, "the last step was not finished")
        self.endsEarly = endsEarly
        groups.removeAll(keepingCapacity: true)
        (tokens, bytes) = (0, 0)
    }

    /// Adds as many of a job's pushes as fit into the step.
    ///
    /// - Parameters:
    ///   - progress: the part of the job that is split already; this call advances it.
    ///   - events: the maximum number of events about malformed tokens.
    /// - Returns: the events about malformed tokens.
    mutating func pack(
        _ job: ParsedJob, id: String, from progress: inout IntakeJob.Progress, events: Int
    ) -> [FarmEvent] {
        var lines: [FarmEvent] = []
        let current = begin(job, id)
        job.tokenBytes.withUnsafeBytes { tokenBytes in
            job.raw.withUnsafeBytes { raw in
                while true {
                    let next =
                        progress.accepted < job.accepted ? Int(job.pushes[progress.accepted].index) : .max
                    if progress.malformed < job.malformed.count,
                        job.malformed[progress.malformed].index < next
                    {
                        guard lines.count < events else { return }
                        lines.append(.malformed(job.malformed[progress.malformed], of: job, id: id))
                        progress.malformed += 1
                    } else {
                        guard next != .max else { return }
                        let token = UnsafeRawBufferPointer(
                            rebasing: tokenBytes[job.pushes[progress.accepted].token])
                        guard place(token, number: progress.accepted, of: job, raw, current) else { return }
                        progress.accepted += 1
                    }
                }
            }
        }
        return lines
    }

    /// Finishes the step and returns its batches.
    mutating func finish() -> [Split.NewBatch] {
        for index in 0..<groups.count * shards where !slots[index].builder.isEmpty { close(index) }
        // Frees the memory of an unusually large step.
        if bytes > Self.bytesKept { slots = [] }
        slots.removeLast(max(0, slots.count - Self.slotsKept * shards))
        defer { batches = [] }
        return batches
    }

    private mutating func begin(_ job: ParsedJob, _ id: String) -> Current {
        jobs += 1
        let group = Group(lane: job.lane, due: (job.deliverAt ?? 0) * 1000)
        let index = groups.firstIndex(of: group) ?? groups.count
        if index == groups.count {
            groups.append(group)
            while slots.count < groups.count * shards { slots.append(Slot()) }
        }
        let head = SegmentHead(jobID: id, options: job.options, payloadPerPush: job.payload == nil)
        let texts =
            id.utf8.count + (job.options.collapseID?.utf8.count ?? 0) + (job.options.topic?.utf8.count ?? 0)
        return Current(
            number: jobs, head: head, payload: job.payload, firstSlot: index * shards,
            segmentBytes: 43 + texts + (job.payload?.count ?? 0))
    }

    /// - Returns: false if the push does not fit into this step.
    @inline(__always)
    private mutating func place(
        _ token: UnsafeRawBufferPointer, number: Int, of job: ParsedJob, _ raw: UnsafeRawBufferPointer,
        _ current: borrowing Current
    ) -> Bool {
        guard tokens < limits.tokens else { return false }
        let index = current.firstSlot + ShardHash.shard(of: token, shards: shards)
        let filled = slots[index].builder.count
        let isFull = filled == limits.positions
        if isFull && endsEarly && tokens >= limits.tokensBeforeEarlyEnd { return false }
        let opensBatch = isFull || filled == 0
        if opensBatch && openBatches + batches.count == limits.batches { return false }

        let beginsSegment = opensBatch || slots[index].job != current.number
        let own = current.payload == nil ? job.payload(of: number) : nil
        let cost =
            1 + token.count + (own.map { 4 + $0.count } ?? 0) + (beginsSegment ? current.segmentBytes : 0)
        guard bytes + cost <= limits.bytes || tokens == 0 else { return false }

        if isFull { close(index) }
        if opensBatch { openBatches += 1 }
        if beginsSegment {
            let payload = UnsafeRawBufferPointer(rebasing: raw[current.payload ?? 0..<0])
            slots[index].builder.begin(current.head, payload: payload)
            slots[index].job = current.number
        }
        if let own {
            slots[index].builder.append(token: token, payload: UnsafeRawBufferPointer(rebasing: raw[own]))
        } else {
            slots[index].builder.append(token: token)
        }
        tokens += 1
        bytes += cost
        return true
    }

    private mutating func close(_ index: Int) {
        let group = groups[index / shards]
        let count = slots[index].builder.count
        guard let body = slots[index].builder.finish() else { preconditionFailure("an empty batch") }
        openBatches -= 1
        batches.append(
            Split.NewBatch(shard: index % shards, lane: group.lane, due: group.due, tokens: count, body: body)
        )
    }
}

extension FarmEvent {
    fileprivate static func malformed(_ push: MalformedPush, of job: ParsedJob, id: String) -> FarmEvent {
        var event = FarmEvent(.tokenMalformed)
        event.add("job", id)
        event.add("position", "\(push.index)")
        event.add("token", job.text(of: push))
        event.add("reason", push.reason)
        return event
    }
}
