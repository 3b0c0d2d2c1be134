import Gateway
import PushModel

/// What all pushes of a segment have in common, made when the first of them is sent.
struct SegmentHeads {
    private var heads: [PushHead?]
    private var jobs: [PushID.Job?]

    init(count: Int) {
        heads = Array(repeating: nil, count: count)
        jobs = Array(repeating: nil, count: count)
    }

    mutating func head(of segment: Int, in batch: Batch, appTopic: String) -> PushHead {
        if let head = heads[segment] { return head }
        let one = batch.segments[segment]
        let head = PushHead(one.options, appTopic: appTopic, isRetry: one.attempt > 0)
        heads[segment] = head
        return head
    }

    mutating func job(of segment: Int, in batch: Batch) -> PushID.Job {
        if let job = jobs[segment] { return job }
        let job = batch.bytes.withUnsafeBytes { bytes in
            PushID.Job(id: UnsafeRawBufferPointer(rebasing: bytes[batch.segments[segment].jobID]))
        }
        jobs[segment] = job
        return job
    }
}
