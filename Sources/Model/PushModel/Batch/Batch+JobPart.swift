extension Batch.JobPart {
    /// Reads one encoded job part and appends its pushes to `pushes`.
    init(
        from reader: inout ByteReader, tokens: Int, jobID: Range<Int>, index: UInt16,
        pushes: inout [Batch.Push]
    ) throws(CodecError) {
        let start = reader.offset
        let optionsLength = try Int(reader.uint16())
        let head = try JobPartOptions(from: &reader, length: optionsLength)
        let payload = try reader.range(Int(reader.uint32()))
        guard !head.hasPayloadPerPush || payload.isEmpty else { throw reader.error(.payload) }
        let first = pushes.count
        for _ in 0..<tokens {
            let token = try reader.token()
            let own = head.hasPayloadPerPush ? try reader.range(Int(reader.uint32())) : payload
            pushes.append(Batch.Push(token: token, payload: own, jobPart: index))
        }
        self.init(
            jobID: jobID, options: head.options, attempt: head.attempt, cause: head.cause,
            hasPayloadPerPush: head.hasPayloadPerPush, hasTemplates: head.hasTemplates, payload: payload,
            pushes: first..<pushes.count,
            encoded: start..<reader.offset)
    }
}

extension Batch.Push {
    /// Stores the ranges in 32 bits, because a batch is smaller than 4 GiB.
    init(token: Range<Int>, payload: Range<Int>, jobPart: UInt16) {
        self.init(
            tokenOffset: UInt32(truncatingIfNeeded: token.lowerBound),
            payloadOffset: UInt32(truncatingIfNeeded: payload.lowerBound),
            payloadLength: UInt32(truncatingIfNeeded: payload.count), jobPart: jobPart,
            tokenLength: UInt8(truncatingIfNeeded: token.count))
    }
}

/// The options of an encoded job part.
private struct JobPartOptions {
    let options: PushOptions
    let attempt: UInt8
    let cause: Range<Int>
    let hasPayloadPerPush: Bool
    let hasTemplates: Bool

    init(from reader: inout ByteReader, length: Int) throws(CodecError) {
        let start = reader.offset
        attempt = try reader.uint8()
        let maxAttempts = try reader.uint8()
        guard (1...100).contains(maxAttempts) else { throw reader.error(.maxAttempts) }
        let priority = try reader.uint8()
        guard priority == 1 || priority == 5 || priority == 10 else { throw reader.error(.priority) }
        guard let pushType = PushType(rawValue: try reader.uint8()) else { throw reader.error(.pushType) }
        guard let receipts = Receipts(rawValue: try reader.uint8()) else { throw reader.error(.receipts) }
        let flags = try reader.uint8()
        guard flags & ~BatchLayout.knownFlags == 0 else { throw reader.error(.flags) }
        hasPayloadPerPush = flags & BatchLayout.payloadPerPush != 0
        hasTemplates = flags & BatchLayout.templates != 0
        guard hasPayloadPerPush || !hasTemplates else { throw reader.error(.flags) }
        let expiration = try Self.number(&reader, flags & BatchLayout.hasExpiration != 0, .expiration)
        let deadline = try Self.number(&reader, flags & BatchLayout.hasDeadline != 0, .deadline)
        let registeredAt = try Self.number(&reader, flags & BatchLayout.hasRegisteredAt != 0, .registeredAt)
        cause = try reader.shortRange()
        let collapseID = try reader.shortText(.collapseID)
        let topic = try reader.shortText(.topic)
        guard reader.offset - start == length else { throw reader.error(.options) }
        options = PushOptions(
            pushType: pushType, priority: priority, expiration: expiration, deadline: deadline,
            collapseID: collapseID.isEmpty ? nil : reader.text(collapseID),
            topic: topic.isEmpty ? nil : reader.text(topic), receipts: receipts,
            delivery: flags & BatchLayout.atMostOnce != 0 ? .atMostOnce : .atLeastOnce,
            maxAttempts: maxAttempts, registeredAt: registeredAt,
            isStored: flags & BatchLayout.stored != 0)
    }

    /// Returns a number if its flag is set, and nil otherwise.
    private static func number(
        _ reader: inout ByteReader, _ isPresent: Bool, _ field: CodecError.Field
    ) throws(CodecError) -> Int64? {
        let value = try reader.int64()
        guard isPresent || value == 0 else { throw reader.error(field) }
        return isPresent ? value : nil
    }
}
