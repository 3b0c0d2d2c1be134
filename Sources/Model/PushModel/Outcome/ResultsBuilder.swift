/// Builds results entries from outcomes of pushes. The builder can be reused.
///
/// For pushes of one job with the same outcome, start an item and then add the pushes. The builder does not write an item without
/// pushes. When the buffer is large enough, adding a push needs no allocation.
package struct ResultsBuilder: Sendable {
    private var bytes: [UInt8] = [1]
    /// Whether a mark is written for each delivered push. The mark identifies the push in audit records.
    package var marksDelivered = false
    /// Computes the marks for the job of the last marked item.
    private var marker: PushID.Job?
    private var open: Open?
    /// The number of pushes so far, in all items.
    package private(set) var count = 0

    /// The item that receives new pushes.
    private struct Open {
        let kind: ResultsKind
        let start: Int
        let countOffset: Int
        /// The offset of the job part's length, in items with a job part.
        var lengthOffset = 0
        /// Whether the item contains tokens (`namesTokens`), and whether each push has its own payload (`hasPayloads`).
        var namesTokens = true
        var hasPayloads = false
        var tokens: UInt16 = 0
    }

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// The size in bytes of the entry if it were finished now.
    package var byteCount: Int { bytes.count }

    /// Starts an item of pushes that the gateway accepted.
    package mutating func beginDelivered(jobID: UnsafeRawBufferPointer, receipts: Receipts) {
        begin(.delivered, jobID)
        open?.namesTokens = receipts == .all
        guard marksDelivered, receipts != .all else { return bytes.append(receipts == .all ? 1 : 0) }
        marker = PushID.Job(id: jobID)
        bytes.append(WorkerReport.marked)
    }

    /// Starts an item of permanently failed pushes. `reason` and `cause` are cut at 255 bytes.
    ///
    /// - Parameter scope: the scope in which the tokens become suppressed; at most 255 bytes in UTF-8.
    package mutating func beginFailed(
        jobID: UnsafeRawBufferPointer, reason: String, cause: String = "", status: UInt16 = 0,
        isInvalidToken: Bool = false, scope: String? = nil,
        isUnknown: Bool = false, receipts: Receipts
    ) {
        begin(.failed, jobID)
        appendCut(reason)
        appendCut(cause)
        bytes.appendBigEndian(status)
        if isInvalidToken, let scope {
            bytes.append(WorkerReport.invalidInScope)
            bytes.appendShort(scope)
        } else {
            bytes.append(isInvalidToken ? 1 : 0)
        }
        bytes.append(isUnknown ? 1 : 0)
        bytes.append(receipts.rawValue)
    }

    /// Starts an item of pushes whose deadline has passed. `cause` is cut at 255 bytes.
    package mutating func beginExpired(jobID: UnsafeRawBufferPointer, cause: String = "", receipts: Receipts)
    {
        begin(.expired, jobID)
        appendCut(cause)
        bytes.append(receipts.rawValue)
    }

    /// Starts an item of pushes to be retried. `head` contains the history of their attempts.
    package mutating func beginRetry(
        _ head: JobPartHead, payload: UnsafeRawBufferPointer, why: RetryCause, status: UInt16 = 0,
        reason: String = "", retryAfterMilliseconds: UInt32 = 0
    ) {
        head.jobID.withUnsafeBytes { begin(.retry, $0) }
        open?.hasPayloads = head.hasPayloadPerPush
        bytes.append(why.rawValue)
        bytes.appendBigEndian(status)
        appendCut(reason)
        bytes.appendBigEndian(retryAfterMilliseconds)
        open?.lengthOffset = bytes.count
        bytes.appendBigEndian(UInt32(0))
        head.write(payload: payload, to: &bytes)
    }

    /// Starts an item of dead letters: pushes that failed permanently though their tokens are valid. `head` contains the history
    /// of their attempts.
    ///
    /// - Parameter reason: the reason of the failure, cut at 255 bytes.
    package mutating func beginDeadLetter(
        _ head: JobPartHead, payload: UnsafeRawBufferPointer, reason: String, status: UInt16 = 0
    ) {
        head.jobID.withUnsafeBytes { begin(.letter, $0) }
        open?.hasPayloads = head.hasPayloadPerPush
        bytes.appendBigEndian(status)
        appendCut(reason)
        open?.lengthOffset = bytes.count
        bytes.appendBigEndian(UInt32(0))
        head.write(payload: payload, to: &bytes)
    }

    /// Adds a push to the open item. The push's token is written only if the item contains tokens.
    ///
    /// - Parameter timestamp: Unix milliseconds when the gateway last found the token unregistered; only for failures.
    package mutating func append(token: UnsafeRawBufferPointer, timestamp: Int64 = 0) {
        let item = countPush(withPayload: false)
        guard item.namesTokens else {
            if marksDelivered { appendMark(of: token) }
            return
        }
        JobPartHead.write(token: token, to: &bytes)
        if item.kind == .failed { bytes.appendBigEndian(timestamp) }
    }

    /// This code is a separate function, because marks are rarely written, and computing a mark costs more than all other code of
    /// `append`.
    @inline(never)
    private mutating func appendMark(of token: UnsafeRawBufferPointer) {
        guard let marker else { return }
        bytes.appendBigEndian(marker.mark(token: token))
    }

    /// Adds a push with its own payload to an open item of retries or dead letters.
    package mutating func append(token: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer) {
        _ = countPush(withPayload: true)
        JobPartHead.write(token: token, payload: payload, to: &bytes)
    }

    /// Returns the entry of all pushes so far and empties the builder. Nil if there are no pushes.
    package mutating func finish() -> [UInt8]? {
        close()
        guard count > 0 else { return nil }
        let entry = bytes.withUnsafeBufferPointer { Array($0) }
        removeAll()
        return entry
    }

    /// Removes all pushes and keeps the buffer.
    package mutating func removeAll() {
        bytes.removeSubrange(1...)
        count = 0
        open = nil
    }

    private mutating func begin(_ kind: ResultsKind, _ jobID: UnsafeRawBufferPointer) {
        close()
        let start = bytes.count
        bytes.append(kind.rawValue)
        bytes.appendShort(jobID)
        open = Open(kind: kind, start: start, countOffset: bytes.count)
        bytes.appendBigEndian(UInt16(0))
    }

    private mutating func appendCut(_ text: String) {
        var text = text
        text.withUTF8 { bytes.appendShort(UTF8Text.prefix(UnsafeRawBufferPointer($0), limit: 255)) }
    }

    private mutating func countPush(withPayload: Bool) -> Open {
        guard let item = open, item.tokens < .max, item.hasPayloads == withPayload else {
            preconditionFailure("no item is open for this push, or it is full, or of the other kind")
        }
        open?.tokens = item.tokens + 1
        count += 1
        return item
    }

    private mutating func close() {
        guard let item = open else { return }
        open = nil
        guard item.tokens > 0 else {
            bytes.removeSubrange(item.start...)
            return
        }
        bytes.putBigEndian(item.tokens, at: item.countOffset)
        if item.lengthOffset > 0 {
            let length = bytes.count - item.lengthOffset - 4
            bytes.putBigEndian(UInt32(length), at: item.lengthOffset)
        }
    }
}
