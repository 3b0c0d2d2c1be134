/// A job that may be sent: its options, and its pushes as ranges over its own bytes.
package struct ParsedJob: Sendable {
    /// The job as the producer wrote it.
    package let raw: [UInt8]
    /// The producer's id; nil if the farm is to make one.
    package let id: String?
    /// The job whose pushes this one repeats.
    package let replayOf: String?
    package let options: PushOptions
    package let lane: Lane
    /// Unix seconds, in the future; nil is now.
    package let deliverAt: Int64?
    /// What looks like a mistake, though nothing forbids it.
    package let warning: String?
    /// Pushes that the job names: accepted, malformed and duplicates.
    package let submitted: Int
    /// Pushes whose token came before in this job.
    package let duplicates: Int
    package let malformed: [MalformedPush]
    /// The payload that all pushes share, in `raw`; nil if each has its own.
    package let payload: Range<Int>?
    /// The payloads of the accepted pushes, in `raw`; empty if they share one.
    let payloads: [Range<Int>]
    /// The decoded tokens of the accepted pushes, one after the other.
    package let tokenBytes: [UInt8]
    /// The accepted pushes in the job's order.
    package let pushes: [Push]

    package var accepted: Int { pushes.count }

    /// One accepted push.
    package struct Push: Hashable, Sendable {
        let tokenOffset: UInt32
        /// Its place in the job, from 0.
        package let index: UInt32
        let tokenLength: UInt8

        /// In `tokenBytes`.
        package var token: Range<Int> { Int(tokenOffset)..<Int(tokenOffset) + Int(tokenLength) }
    }

    /// The payload, in `raw`, of the accepted push with this number, from 0.
    package func payload(of push: Int) -> Range<Int> { payload ?? payloads[push] }

    /// The token of a malformed push as the job has it, cut at 200 bytes.
    package func text(of push: MalformedPush) -> String {
        raw[push.text].withUnsafeBytes {
            String(decoding: UTF8Text.prefix($0, limit: JobLimits.malformedText), as: UTF8.self)
        }
    }
}
