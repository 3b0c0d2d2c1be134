/// Reads a results entry, one item at a time.
struct ResultsDecoder {
    struct Parts {
        var items: [WorkerReport.Item] = []
        var tokens: [WorkerReport.Token] = []
        var pushes: [Batch.Push] = []
        var unreadable: [WorkerReport.UnreadableItem] = []
    }

    private static let version: UInt8 = 1

    private let skipsUnreadable: Bool
    private var reader: ByteReader
    private var done = Parts()

    /// - Parameter skipsUnreadable: if this is true, the decoder skips an unreadable item whose end is known. If this is false,
    ///   an unreadable item is an error.
    init(_ bytes: UnsafeRawBufferPointer, skipsUnreadable: Bool) {
        reader = ByteReader(bytes)
        self.skipsUnreadable = skipsUnreadable
    }

    mutating func parts() throws(CodecError) -> Parts {
        guard reader.bytes.count <= Int(UInt32.max) else {
            throw CodecError(fault: .trailing, offset: Int(UInt32.max))
        }
        let version = try reader.uint8()
        guard version == Self.version else { throw CodecError(fault: .version(version), offset: 0) }
        while !reader.isAtEnd { try next() }
        return done
    }

    private mutating func next() throws(CodecError) {
        let (start, tokens, pushes) = (reader, done.tokens.count, done.pushes.count)
        do { try done.items.append(item()) } catch {
            guard skipsUnreadable else { throw error }
            reader = start
            done.tokens.removeSubrange(tokens...)
            done.pushes.removeSubrange(pushes...)
            try skip(error)
        }
    }

    /// Skips an unreadable item by its length fields.
    private mutating func skip(_ error: CodecError) throws(CodecError) {
        guard let kind = ResultsKind(rawValue: try reader.uint8()) else { throw error }
        var jobID = try reader.shortRange()
        if !UTF8Text.isValid(UnsafeRawBufferPointer(rebasing: reader.bytes[jobID])) {
            jobID = jobID.lowerBound..<jobID.lowerBound
        }
        let count = try Int(reader.uint16())
        switch kind {
        case .delivered:
            switch try reader.uint8() {
            case 1: try skipTokens(count)
            case WorkerReport.marked: _ = try reader.range(8 * count)
            default: break
            }
        case .failed:
            for _ in 0..<2 { _ = try reader.shortRange() }
            _ = try reader.uint16()
            if try reader.uint8() == WorkerReport.invalidInScope { _ = try reader.shortRange() }
            _ = try reader.range(2)
            try skipTokens(count, extra: 8)
        case .expired:
            _ = try reader.shortRange()
            _ = try reader.uint8()
            try skipTokens(count)
        case .retry:
            _ = try reader.range(3)
            _ = try reader.shortRange()
            _ = try reader.uint32()
            _ = try reader.range(Int(reader.uint32()))
        case .letter:
            _ = try reader.uint16()
            _ = try reader.shortRange()
            _ = try reader.range(Int(reader.uint32()))
        }
        guard count > 0 else { return }
        done.unreadable.append(WorkerReport.UnreadableItem(jobID: jobID, count: count, error: error))
    }

    private mutating func skipTokens(_ count: Int, extra: Int = 0) throws(CodecError) {
        for _ in 0..<count { _ = try reader.range(Int(reader.uint8()) + extra) }
    }

    private mutating func item() throws(CodecError) -> WorkerReport.Item {
        guard let kind = ResultsKind(rawValue: try reader.uint8()) else { throw reader.error(.kind) }
        let jobID = try reader.shortText(.jobID)
        guard !jobID.isEmpty else { throw reader.error(.jobID) }
        let count = try Int(reader.uint16())
        guard count > 0 else { throw reader.error(.count) }
        var marks = 0..<0
        let result: WorkerReport.Result =
            switch kind {
            case .delivered: try .delivered(tokens: delivered(count, &marks))
            case .failed: try .failed(failure(count))
            case .expired: try .expired(expiry(count))
            case .retry: try .retry(retry(count, jobID: jobID))
            case .letter: try .letter(letter(count, jobID: jobID))
            }
        return WorkerReport.Item(jobID: jobID, count: count, marks: marks, result: result)
    }

    private mutating func delivered(_ count: Int, _ marks: inout Range<Int>) throws(CodecError) -> Range<Int>
    {
        switch try reader.uint8() {
        case 0: return 0..<0
        case 1: return try tokens(count)
        case WorkerReport.marked:
            marks = try reader.range(8 * count)
            return 0..<0
        default: throw reader.error(.receipts)
        }
    }

    private mutating func failure(_ count: Int) throws(CodecError) -> WorkerReport.Failure {
        let reason = try reader.shortRange()
        let cause = try reader.shortRange()
        let status = try reader.uint16()
        let death = try reader.uint8()
        guard death <= WorkerReport.invalidInScope else { throw reader.error(.switches) }
        let scope = death == WorkerReport.invalidInScope ? try reader.shortText(.topic) : nil
        let isUnknown = try reader.flag(.switches)
        let receipts = try receipts()
        return try WorkerReport.Failure(
            reason: reason, cause: cause, status: status, isInvalidToken: death > 0, scope: scope,
            isUnknown: isUnknown, receipts: receipts, tokens: tokens(count, withTimestamp: true))
    }

    private mutating func expiry(_ count: Int) throws(CodecError) -> WorkerReport.Expiry {
        let cause = try reader.shortRange()
        let receipts = try receipts()
        return try WorkerReport.Expiry(cause: cause, receipts: receipts, tokens: tokens(count))
    }

    private mutating func retry(_ count: Int, jobID: Range<Int>) throws(CodecError) -> WorkerReport.Retry {
        guard let why = RetryCause(rawValue: try reader.uint8()) else { throw reader.error(.why) }
        let status = try reader.uint16()
        let reason = try reader.shortRange()
        let wait = try reader.uint32()
        return WorkerReport.Retry(
            why: why, status: status, reason: reason, retryAfterMilliseconds: wait,
            jobPart: try jobPart(count, jobID: jobID))
    }

    private mutating func letter(_ count: Int, jobID: Range<Int>) throws(CodecError) -> WorkerReport.Letter {
        let status = try reader.uint16()
        let reason = try reader.shortRange()
        return WorkerReport.Letter(
            reason: reason, status: status, jobPart: try jobPart(count, jobID: jobID))
    }

    private mutating func jobPart(_ count: Int, jobID: Range<Int>) throws(CodecError) -> Batch.JobPart {
        let length = try Int(reader.uint32())
        let start = reader.offset
        let jobPart = try Batch.JobPart(
            from: &reader, tokens: count, jobID: jobID, index: 0, pushes: &done.pushes)
        guard reader.offset - start == length, !jobPart.hasTemplates else { throw reader.error(.jobPart) }
        return jobPart
    }

    private mutating func receipts() throws(CodecError) -> Receipts {
        guard let receipts = Receipts(rawValue: try reader.uint8()) else { throw reader.error(.receipts) }
        return receipts
    }

    private mutating func tokens(_ count: Int, withTimestamp: Bool = false) throws(CodecError) -> Range<Int> {
        let first = done.tokens.count
        done.tokens.reserveCapacity(first + min(count, reader.bytes.count - reader.offset))
        for _ in 0..<count {
            let range = try reader.token()
            let timestamp = withTimestamp ? try reader.int64() : 0
            done.tokens.append(
                WorkerReport.Token(
                    offset: UInt32(truncatingIfNeeded: range.lowerBound),
                    length: UInt8(truncatingIfNeeded: range.count), timestamp: timestamp))
        }
        return first..<done.tokens.count
    }
}
