import PushModel
import StoreProtocol

/// Packs the pushes of one step into batches by shard, lane and due time.
///
/// Batches of one shard, lane and due time keep the order of the pushes, so a device's pushes of one lane and due time stay
/// in order.
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
        /// The number of the job whose job part is open.
        var job = 0
        /// The number of the options that the open job part has, among the options of that job; 0: the job's own options.
        var options = 0
    }

    /// The job whose pushes are being packed.
    private struct Current {
        var number: Int
        var id: String
        /// The ``JobPartHead`` for pushes without options of their own.
        var head: JobPartHead
        /// The payload of all pushes of the job; nil if the payloads differ.
        var payload: Range<Int>?
        /// The first slot of the job's group.
        var firstSlot: Int

        /// The head of job parts with the options `number`; 0: the job's own options.
        func head(options number: Int, of job: ParsedJob) -> JobPartHead {
            number == 0 ? head : Self.head(job, id, job.details.options(number: number))
        }

        static func head(_ job: ParsedJob, _ id: String, _ options: PushOptions) -> JobPartHead {
            JobPartHead(
                jobID: id, options: options, payloadPerPush: job.payload == nil,
                hasTemplates: job.details.hasTemplates)
        }

        /// The estimated bytes of a job part with the options `number`, without its pushes.
        func jobPartBytes(options number: Int, of job: ParsedJob) -> Int {
            let options = number == 0 ? job.options : job.details.options(number: number)
            let texts = (options.collapseID?.utf8.count ?? 0) + (options.topic?.utf8.count ?? 0)
            return 43 + id.utf8.count + texts + (payload?.count ?? 0)
        }

        /// A number that identifies the template of a push among the templates of all jobs.
        func template(of push: Int, in job: ParsedJob) -> Int { number << 8 | job.details.template(of: push) }
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
    /// - Parameter endsEarly: whether more pushes are ready than fit into one step.
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
        return Current(
            number: jobs, id: id, head: Current.head(job, id, job.options), payload: job.payload,
            firstSlot: index * shards)
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

        let options = job.details.optionNumber(of: number)
        let beginsJobPart =
            opensBatch || slots[index].job != current.number || slots[index].options != options
        var cost = 1 + token.count
        if beginsJobPart { cost += current.jobPartBytes(options: options, of: job) }
        if current.payload == nil { cost += contentBytes(of: number, in: job, current, opensBatch, index) }
        guard bytes + cost <= limits.bytes || tokens == 0 else { return false }

        if isFull { close(index) }
        if opensBatch { openBatches += 1 }
        if beginsJobPart {
            let payload = UnsafeRawBufferPointer(rebasing: raw[current.payload ?? 0..<0])
            slots[index].builder.begin(current.head(options: options, of: job), payload: payload)
            (slots[index].job, slots[index].options) = (current.number, options)
        }
        if current.payload != nil {
            slots[index].builder.append(token: token)
        } else {
            append(token, number: number, of: job, raw, current, to: index)
        }
        tokens += 1
        bytes += cost
        return true
    }

    /// The bytes that the content of a push adds to a batch: its own payload, or its values. A template counts only if the
    /// batch does not contain the template yet.
    private func contentBytes(
        of push: Int, in job: ParsedJob, _ current: borrowing Current, _ opensBatch: Bool, _ index: Int
    ) -> Int {
        guard job.details.hasTemplates else { return 4 + job.payload(of: push).count }
        let values = job.details.withValues(of: push) { $0.count }
        if !opensBatch, slots[index].builder.contains(template: current.template(of: push, in: job)) {
            return 6 + values
        }
        return 6 + values + job.details.templates[job.details.template(of: push)].count
    }

    /// Adds a push with its own payload or its values to the open job part.
    private mutating func append(
        _ token: UnsafeRawBufferPointer, number: Int, of job: ParsedJob, _ raw: UnsafeRawBufferPointer,
        _ current: borrowing Current, to index: Int
    ) {
        guard job.details.hasTemplates else {
            let payload = UnsafeRawBufferPointer(rebasing: raw[job.payload(of: number)])
            return slots[index].builder.append(token: token, payload: payload)
        }
        job.details.withValues(of: number) { values in
            slots[index].builder.append(
                token: token, template: current.template(of: number, in: job),
                job.details.templates[job.details.template(of: number)], values: values)
        }
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
