import PushModel
import StoreProtocol

/// Makes dead letters of the closed positions of a batch: one for each segment.
struct DeadLetterBuilder {
    static let cause = "worker lost"

    private let batch: Batch
    private let reason: FarmReason
    private var builder = BatchBuilder()
    private var segment: UInt16?
    private var letters: [Settlement.Letter] = []

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

    mutating func finish() -> [Settlement.Letter] {
        close()
        return letters
    }

    private mutating func close() {
        let count = builder.count
        guard let segment, let body = builder.finish() else { return }
        letters.append(
            Settlement.Letter(
                job: batch.jobID(of: Int(segment)), reason: reason.rawValue, pushes: count, body: body))
    }
}
