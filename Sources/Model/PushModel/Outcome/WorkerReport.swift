/// A worker's report about pushes, decoded into ranges over the report's own bytes.
///
/// Format, version 1, big-endian. There is one `item` for each job and outcome:
///
///     entry := version u8 | item*
///     item  := kind u8 | idLength u8 | job id | count u16 | then by kind
///     'D'   := receiptsAll u8 | if it is 1: count × (tokenLength u8 | token); if it is 2: count × mark u64
///     'F'   := reasonLength u8 | reason | causeLength u8 | cause | status u16
///              | dead u8 | if it is 2: scopeLength u8 | scope | unknown u8 | receipts u8 | count × (tokenLength u8 | token | timestamp i64)
///     'E'   := causeLength u8 | cause | receipts u8 | count × (tokenLength u8 | token)
///     'R'   := why u8 | status u16 | reasonLength u8 | reason | retryAfterMs u32 | jobPartLength u32
///              | a jobPart of `count` pushes as in a ``Batch``
///     'L'   := status u16 | reasonLength u8 | reason | jobPartLength u32 | a jobPart as above
package struct WorkerReport: Sendable {
    package let bytes: [UInt8]
    package let items: [Item]
    /// The tokens of all items, except items that contain no tokens and items that contain a job part.
    package let tokens: [Token]
    /// The pushes of all items that contain a job part.
    package let pushes: [Batch.Push]
    /// Items that ``init(salvaging:)`` could not read; empty after a strict decoding.
    package let unreadable: [UnreadableItem]

    /// An item that contains an invalid value, but whose end is known.
    package struct UnreadableItem: Hashable, Sendable {
        /// The range of the job's id; empty if the id is not valid UTF-8.
        package let jobID: Range<Int>
        package let count: Int
        package let error: CodecError
    }

    /// Pushes of one job that have the same outcome, or are retried for the same reason.
    package struct Item: Sendable {
        /// The job's id in UTF-8.
        package let jobID: Range<Int>
        package let count: Int
        /// The upper halves of the ids of delivered pushes, if audit records are on; otherwise empty.
        package let marks: Range<Int>
        package let result: Result
    }

    package enum Result: Sendable {
        /// The gateway accepted the pushes. `tokens` is empty unless the job asked for receipts of all pushes.
        case delivered(tokens: Range<Int>)
        case failed(Failure)
        case expired(Expiry)
        case retry(Retry)
        /// The pushes failed permanently though their tokens are valid: dead letters.
        case letter(Letter)
    }

    package struct Failure: Sendable {
        /// The gateway's reason, or a ``FarmReason``, in UTF-8.
        package let reason: Range<Int>
        /// If the reason is `exhausted` or `unknown`: the last failure before this outcome, in UTF-8. May be empty.
        package let cause: Range<Int>
        /// The status of the gateway's response; 0 if the failure has no status.
        package let status: UInt16
        /// True if the gateway reported the tokens as unregistered or invalid.
        package let isInvalidToken: Bool
        /// The text of the ``SuppressionScope`` in which the tokens become suppressed; nil: they are not suppressed.
        package let scope: Range<Int>?
        /// True if the outcome is unknown and will stay unknown.
        package let isUnknown: Bool
        package let receipts: Receipts
        /// The range of the pushes in the array of tokens.
        package let tokens: Range<Int>
    }

    package struct Expiry: Sendable {
        /// The failure of the last attempt, in UTF-8; empty without a failure.
        package let cause: Range<Int>
        package let receipts: Receipts
        package let tokens: Range<Int>
    }

    package struct Retry: Sendable {
        package let why: RetryCause
        package let status: UInt16
        /// The gateway's reason, in UTF-8; may be empty.
        package let reason: Range<Int>
        /// The gateway's Retry-After in milliseconds; 0 if the gateway sent no Retry-After.
        package let retryAfterMilliseconds: UInt32
        /// The job part to send again. The number of attempts in the job part includes the last attempt. The bytes of the job
        /// part's range `encoded` are copied into a batch unchanged.
        package let jobPart: Batch.JobPart
    }

    package struct Letter: Sendable {
        /// The gateway's reason, or a ``FarmReason``, in UTF-8.
        package let reason: Range<Int>
        /// The status of the gateway's response; 0 if the failure has no status.
        package let status: UInt16
        /// The job part of the dead letters. The cause in the job part is the last failure. The bytes of the job part's range
        /// `encoded` are copied into a batch unchanged.
        package let jobPart: Batch.JobPart
    }

    package struct Token: Hashable, Sendable {
        let offset: UInt32
        let length: UInt8
        /// Unix milliseconds when the gateway found the token unregistered; 0 if the gateway sent no time.
        package let timestamp: Int64

        package var range: Range<Int> { Int(offset)..<Int(offset) + Int(length) }
    }

    /// The value of `receiptsAll` if marks follow.
    static let marked: UInt8 = 2
    /// The value of `dead` if a scope follows.
    static let invalidInScope: UInt8 = 2

    package init(decoding bytes: [UInt8]) throws(CodecError) { try self.init(bytes, skipsUnreadable: false) }

    /// Reads all readable items and skips the unreadable items.
    ///
    /// - Throws: when an item's end is unknown, so that the next item cannot be found. `accounting.lua` skips the same items.
    package init(salvaging bytes: [UInt8]) throws(CodecError) { try self.init(bytes, skipsUnreadable: true) }

    private init(_ bytes: [UInt8], skipsUnreadable: Bool) throws(CodecError) {
        self.bytes = bytes
        let parts = try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
            var decoder = ResultsDecoder(UnsafeRawBufferPointer(bytes), skipsUnreadable: skipsUnreadable)
            return try decoder.parts()
        }
        (items, tokens, pushes, unreadable) = (parts.items, parts.tokens, parts.pushes, parts.unreadable)
    }

    package func jobID(of item: Item) -> String { text(item.jobID) }

    package func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

/// The first byte of an item in a results entry.
enum ResultsKind: UInt8 {
    case delivered = 0x44  // D
    case failed = 0x46  // F
    case expired = 0x45  // E
    case retry = 0x52  // R
    case letter = 0x4C  // L
}

/// Why pushes are retried. The cause of a retry decides how long the retry is delayed.
package enum RetryCause: UInt8, CaseIterable, Hashable, Sendable {
    /// The gateway limits pushes to this token (status 429).
    case throttled = 1
    /// The gateway had an internal error.
    case server = 2
    /// No response arrived, so the outcome is unknown.
    case unknownOutcome = 3
    /// The gateway limits how often provider tokens change.
    case authSlow = 4
    /// The gateway could not process this push and gave no reason.
    case processing = 5
    /// The push was not sent, because its token is in cool-down after status 429.
    case coolDown = 6

    /// Whether the push was sent to the gateway.
    package var isAttempt: Bool { self != .coolDown }
}

/// The farm's own reasons for a failed push. All other reasons come from the gateway.
package enum FarmReason: String, CaseIterable, Hashable, Sendable {
    /// The outcome is unknown, and the job asked for delivery at most once.
    case unknown
    /// All allowed attempts were made.
    case exhausted
    /// The push repeatedly crashed its worker.
    case poison
    /// The push's token is suppressed.
    case suppressed
    /// The accounting lost the push, and `fsck` found the loss.
    case lost
    /// The report about the push cannot be read.
    case unreadable
}
