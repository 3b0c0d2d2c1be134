import APNs
import PushModel

/// What the pushes of a segment have in common, made when the first of them is sent and kept until another segment's turn.
struct SegmentInUse {
    private var head: (segment: Int, appTopic: String, head: PushHead)?
    private var job: (segment: Int, job: PushID.Job)?

    /// Segments with the same options have the same head: that of the next job, most likely, costs nothing.
    mutating func head(of segment: Int, in batch: Batch, appTopic: String) -> PushHead {
        if let head, head.segment == segment { return head.head }
        let one = batch.segments[segment]
        if let last = head, last.head.isRetry == (one.attempt > 0), last.head.options == one.options,
            last.appTopic == appTopic
        {
            head?.segment = segment
            return last.head
        }
        let made = PushHead(one.options, appTopic: appTopic, isRetry: one.attempt > 0)
        head = (segment, appTopic, made)
        return made
    }

    mutating func job(of segment: Int, in batch: Batch) -> PushID.Job {
        if let job, job.segment == segment { return job.job }
        let made = batch.bytes.withUnsafeBytes { bytes in
            PushID.Job(id: UnsafeRawBufferPointer(rebasing: bytes[batch.segments[segment].jobID]))
        }
        job = (segment, made)
        return made
    }
}
