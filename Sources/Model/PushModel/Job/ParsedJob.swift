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
    /// A warning about something that is allowed and looks like a mistake.
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

/// A push of a job that will not be sent, though the rest of the job is.
package struct MalformedPush: Hashable, Sendable {
    /// Its place in the job, from 0.
    package let index: Int
    package let fault: Fault
    /// Its token in the job's bytes; ``ParsedJob/text(of:)`` cuts it.
    package let text: Range<Int>

    package enum Fault: Error, Hashable, Sendable {
        case tokenNotText
        case tokenNotHex
        case tokenOddDigits
        case tokenTooShort
        case tokenTooLong
        case payloadTooLarge(bytes: Int, limit: Int)
        case backgroundWith(BackgroundKey)
    }

    package var reason: String { fault.reason }
}

extension MalformedPush.Fault {
    /// The fault, for the developer who sent the job.
    package var reason: String {
        switch self {
        case .tokenNotText: "a token must be a string of hex digits"
        case .tokenNotHex: "a token may hold hex digits only"
        case .tokenOddDigits: "a token must have an even number of hex digits"
        case .tokenTooShort: "a token must have at least \(2 * JobLimits.tokenBytes.lowerBound) hex digits"
        case .tokenTooLong: "a token must have at most \(2 * JobLimits.tokenBytes.upperBound) hex digits"
        case .payloadTooLarge(let bytes, let limit):
            "the payload has \(bytes) bytes; at most \(limit) are allowed"
        case .backgroundWith(let key): key.reason
        }
    }
}

/// What the `aps` of a background push may not hold.
package enum BackgroundKey: String, CaseIterable, Hashable, Sendable {
    case alert, badge, sound

    var reason: String {
        "a background push may not hold aps.\(rawValue); leave it out, or use push_type \"alert\""
    }
}
