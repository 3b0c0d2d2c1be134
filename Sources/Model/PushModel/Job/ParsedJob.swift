/// A valid job: its options and its pushes. Payloads are ranges of the job's bytes.
package struct ParsedJob: Sendable {
    /// The job's bytes from the producer.
    package let raw: [UInt8]
    /// The producer's id for the job; nil if the farm must create an id.
    package let id: String?
    /// The id of the job that this job replays; nil if this job is not a replay.
    package let replayOf: String?
    package let options: PushOptions
    package let lane: Lane
    /// The earliest sending time in Unix seconds; nil if the farm sends the pushes at once.
    package let deliverAt: Int64?
    /// The recipients whose tokens must be looked up; nil if the job has tokens. A job with such recipients has no pushes.
    package let recipients: NamedRecipients?
    /// The number of recipients without a token, which were left out when the recipients were looked up.
    package let unknownRecipients: Int
    /// The number of pushes that were left out because of the budget of background pushes; nil if the budget was not applied.
    package let capped: Int?
    /// A warning about an allowed value that is probably a mistake; nil if there is none.
    package let warning: String?
    /// The number of all pushes in the job, also of malformed pushes and duplicates.
    package let submitted: Int
    /// The number of pushes whose token occurred earlier in this job.
    package let duplicates: Int
    package let malformed: [MalformedPush]
    /// The range in `raw` of the payload that all pushes share; nil if the payloads differ.
    package let payload: Range<Int>?
    /// The payloads, values and options of the accepted pushes, if these differ from push to push.
    package let details: PushDetails
    /// The decoded tokens of the accepted pushes, concatenated.
    package let tokenBytes: [UInt8]
    /// The accepted pushes in the job's order.
    package let pushes: [Push]

    package var accepted: Int { pushes.count }

    /// One accepted push.
    package struct Push: Hashable, Sendable {
        let tokenOffset: UInt32
        /// The index of the push in the job, from 0.
        package let index: UInt32
        let tokenLength: UInt8

        /// The range of the token in `tokenBytes`.
        package var token: Range<Int> { Int(tokenOffset)..<Int(tokenOffset) + Int(tokenLength) }
    }

    /// The range in `raw` of an accepted push's payload. Call this only if the job has no templates.
    ///
    /// - Parameter push: the index of the push in ``pushes``.
    package func payload(of push: Int) -> Range<Int> { payload ?? details.payload(of: push) }

    /// The token of a malformed push, as written in the job; at most the first 200 bytes.
    package func text(of push: MalformedPush) -> String {
        raw[push.text].withUnsafeBytes {
            String(decoding: UTF8Text.prefix($0, limit: JobLimits.malformedText), as: UTF8.self)
        }
    }
}

/// A malformed push. A malformed push is not sent, but the other pushes of the job are sent.
package struct MalformedPush: Hashable, Sendable {
    /// The index of the push in the job, from 0.
    package let index: Int
    package let fault: Fault
    /// The range of the push's token in the job's bytes. ``ParsedJob/text(of:)`` limits the length.
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
    /// A sentence about the fault, for the developer of the producer.
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

/// Keys that the `aps` object of a background push must not contain.
package enum BackgroundKey: String, CaseIterable, Hashable, Sendable {
    case alert, badge, sound

    var reason: String {
        "a background push may not hold aps.\(rawValue); leave it out, or use push_type \"alert\""
    }
}
