/// One report of a worker about its pushes, decoded into ranges over its own bytes.
///
/// Format, version 1, big-endian; `item` repeats, grouped by job and equal outcome:
///
///     entry := version u8 | item*
///     item  := kind u8 | idLength u8 | job id | count u16 | then by kind
///     'D'   := receiptsAll u8 | if it is 1: count × (tokenLength u8 | token); if it is 2: count × mark u64
///     'F'   := reasonLength u8 | reason | causeLength u8 | cause | status u16
///              | dead u8 | if it is 2: scopeLength u8 | scope | unknown u8 | receipts u8 | count × (tokenLength u8 | token | timestamp i64)
///     'E'   := causeLength u8 | cause | receipts u8 | count × (tokenLength u8 | token)
///     'R'   := why u8 | status u16 | reasonLength u8 | reason | retryAfterMs u32 | segmentLength u32
///              | a segment of `count` pushes as in a ``Batch``
///     'L'   := status u16 | reasonLength u8 | reason | segmentLength u32 | a segment as above
package struct ResultsEntry: Sendable {
    package let bytes: [UInt8]
    package let items: [Item]
    /// The tokens of items that name them.
    package let tokens: [Token]
    /// The pushes of items that bring their segment.
    package let pushes: [Batch.Push]
    /// Items that ``init(salvaging:)`` could not read; empty after a strict decoding.
    package let unreadable: [UnreadableItem]

    /// An item with an impossible value, of which job, count and length are known.
    package struct UnreadableItem: Hashable, Sendable {
        /// Empty if the job's id is not UTF-8.
        package let jobID: Range<Int>
        package let count: Int
        package let error: CodecError
    }

    /// Pushes of one job that ended, or are to be tried again, in the same way.
    package struct Item: Sendable {
        /// The job's id in UTF-8.
        package let jobID: Range<Int>
        package let count: Int
        /// Of delivered pushes that are not named: the upper halves of their ids, if an audit wants them.
        package let marks: Range<Int>
        package let result: Result
    }

    package enum Result: Sendable {
        /// `tokens` is empty unless the job wants to hear about all of them.
        case delivered(tokens: Range<Int>)
        case failed(Failure)
        case expired(Expiry)
        case retry(Retry)
        /// Failed permanently though the tokens are fine.
        case letter(Letter)
    }

    package struct Failure: Sendable {
        /// The gateway's word, or a ``FarmReason``; UTF-8.
        package let reason: Range<Int>
        /// The last failure of an exhausted or unknown push; UTF-8, may be empty.
        package let cause: Range<Int>
        /// The gateway's status; 0 if it gave none.
        package let status: UInt16
        /// The gateway reported these tokens as unregistered or invalid.
        package let isDead: Bool
        /// The text of the ``SuppressionScope`` in which the tokens become suppressed; nil: nowhere.
        package let scope: Range<Int>?
        /// The outcome is unknown and stays unknown.
        package let isUnknown: Bool
        package let receipts: Receipts
        /// Elements of the array of tokens.
        package let tokens: Range<Int>
    }

    package struct Expiry: Sendable {
        /// The failure of the last attempt; UTF-8, empty without one.
        package let cause: Range<Int>
        package let receipts: Receipts
        package let tokens: Range<Int>
    }

    package struct Retry: Sendable {
        package let why: RetryCause
        package let status: UInt16
        /// The gateway's word; UTF-8, may be empty.
        package let reason: Range<Int>
        /// The gateway's Retry-After; 0 without one.
        package let retryAfterMilliseconds: UInt32
        /// Its attempts are already counted. Its `encoded` range goes into a body unchanged.
        package let segment: Batch.Segment
    }

    package struct Letter: Sendable {
        /// The gateway's word, or a ``FarmReason``; UTF-8.
        package let reason: Range<Int>
        /// The gateway's status; 0 if it gave none.
        package let status: UInt16
        /// Its cause is the last failure of the pushes. Its `encoded` range goes into a body unchanged.
        package let segment: Batch.Segment
    }

    package struct Token: Hashable, Sendable {
        let offset: UInt32
        let length: UInt8
        /// Unix milliseconds when the gateway found the token unregistered; 0 if it named no time.
        package let timestamp: Int64

        package var range: Range<Int> { Int(offset)..<Int(offset) + Int(length) }
    }

    /// The byte that says that marks follow.
    static let marked: UInt8 = 2
    /// The byte that says that a scope follows.
    static let deadInScope: UInt8 = 2

    package init(decoding bytes: [UInt8]) throws(CodecError) { try self.init(bytes, skipsUnreadable: false) }

    /// Reads all items that can be read, and skips those that cannot.
    ///
    /// - Throws: when it is not known where an item ends. `census.lua` draws the same line.
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

/// Why pushes are retried; it decides the delay.
package enum RetryCause: UInt8, CaseIterable, Hashable, Sendable {
    /// The gateway limits pushes to this token (429).
    case throttled = 1
    /// The gateway failed.
    case server = 2
    /// No response came.
    case unknownOutcome = 3
    /// The gateway limits new provider tokens.
    case authSlow = 4
    /// The gateway could not process this push, without a reason.
    case processing = 5
    /// It was not sent: its token is in cool-down after 429.
    case coolDown = 6

    /// Whether the gateway got the push.
    package var isAttempt: Bool { self != .coolDown }
}

/// The farm's own reasons for a failed push; every other reason is the gateway's word.
package enum FarmReason: String, CaseIterable, Hashable, Sendable {
    /// The outcome is unknown, and the job asked for at most once.
    case unknown
    /// All attempts were made.
    case exhausted
    /// The push crashed its worker repeatedly.
    case poison
    /// Its token is suppressed.
    case suppressed
    /// The accounting lost the push, and `fsck` found that.
    case lost
    /// The report about it cannot be read.
    case unreadable
}
