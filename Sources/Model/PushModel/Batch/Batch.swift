/// A decoded batch: flat arrays of ranges over the batch's own bytes.
///
/// Swift counts the positions of pushes from 0, Redis counts them from 1.
package struct Batch: Sendable {
    package let bytes: [UInt8]
    package let jobParts: [JobPart]
    /// The pushes in the order of their positions.
    package let pushes: [Push]

    /// Pushes of one job with the same options and history.
    package struct JobPart: Sendable {
        /// The job's id in UTF-8.
        package let jobID: Range<Int>
        package let options: PushOptions
        /// The number of attempts that were already made.
        package let attempt: UInt8
        /// The reason why the last attempt failed, in UTF-8; empty before the first attempt.
        package let cause: Range<Int>
        package let hasPayloadPerPush: Bool
        /// Whether the payloads are templates and values, which ``TemplateExpansion`` renders.
        let hasTemplates: Bool
        /// The payload that all pushes of the job part share; empty if each push has its own payload.
        package let payload: Range<Int>
        /// The job part's range in the array of pushes.
        package let pushes: Range<Int>
        /// The encoded bytes of the job part.
        package let encoded: Range<Int>
    }

    /// The ranges of one push's token and payload in the batch's bytes.
    package struct Push: Hashable, Sendable {
        let tokenOffset: UInt32
        let payloadOffset: UInt32
        let payloadLength: UInt32
        /// The index of the push's job part in the array of job parts.
        package let jobPart: UInt16
        let tokenLength: UInt8

        package var token: Range<Int> { Int(tokenOffset)..<Int(tokenOffset) + Int(tokenLength) }
        package var payload: Range<Int> { Int(payloadOffset)..<Int(payloadOffset) + Int(payloadLength) }
    }

    /// Decodes a batch. If the batch has templates, this initializer first renders the payloads. The property `bytes` then
    /// differs from the argument `bytes`.
    package init(decoding bytes: [UInt8]) throws(CodecError) {
        let bytes = bytes.first == BatchLayout.templateVersion ? try TemplateExpansion.expand(bytes) : bytes
        self.bytes = bytes
        (jobParts, pushes) = try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
            try Self.decode(UnsafeRawBufferPointer(bytes), version: BatchLayout.version)
        }
    }

    package func jobID(of jobPart: Int) -> String { text(jobParts[jobPart].jobID) }

    package func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// - Parameter wanted: the version that the batch must have.
    static func decode(
        _ bytes: UnsafeRawBufferPointer, version wanted: UInt8
    ) throws(CodecError) -> (jobParts: [JobPart], pushes: [Push]) {
        guard bytes.count <= Int(UInt32.max) else {
            throw CodecError(fault: .trailing, offset: Int(UInt32.max))
        }
        var reader = ByteReader(bytes)
        let version = try reader.uint8()
        guard version == wanted else { throw CodecError(fault: .version(version), offset: 0) }
        let count = try Int(reader.uint16())
        guard count > 0 else { throw reader.error(.jobParts) }
        var table = reader
        var tokens = 0
        for _ in 0..<count { tokens += try tableRow(&reader).tokens }
        var jobParts: [JobPart] = []
        var pushes: [Push] = []
        jobParts.reserveCapacity(count)
        // Each token has at least one byte, so the batch has at most `bytes.count` tokens. Without this limit, a corrupt table
        // could make the array reserve too much memory.
        pushes.reserveCapacity(min(tokens, bytes.count))
        for index in 0..<count {
            let row = try tableRow(&table)
            let jobPart = try JobPart(
                from: &reader, tokens: row.tokens, jobID: row.jobID, index: UInt16(index), pushes: &pushes)
            guard (jobPart.options.delivery == .atMostOnce) == row.isAtMostOnce,
                !jobPart.hasTemplates || version == BatchLayout.templateVersion
            else {
                throw reader.error(.flags)
            }
            jobParts.append(jobPart)
        }
        try reader.end()
        return (jobParts, pushes)
    }

    /// Reads the positions of each job from the table only, as the scripts in Redis do.
    package static func table(_ bytes: [UInt8]) throws(CodecError) -> [(job: String, positions: Range<Int>)] {
        try bytes.withUnsafeBufferPointer { (buffer) throws(CodecError) in
            var reader = ByteReader(UnsafeRawBufferPointer(buffer))
            _ = try reader.uint8()
            var rows: [(job: String, positions: Range<Int>)] = []
            var first = 0
            for _ in 0..<Int(try reader.uint16()) {
                let tokens = try Int(reader.uint16())
                _ = try reader.uint8()
                let id = try reader.shortRange()
                let isText = UTF8Text.isValid(UnsafeRawBufferPointer(rebasing: reader.bytes[id]))
                rows.append((isText ? reader.text(id) : "", first..<first + tokens))
                first += tokens
            }
            return rows
        }
    }

    private static func tableRow(
        _ reader: inout ByteReader
    ) throws(CodecError) -> (tokens: Int, isAtMostOnce: Bool, jobID: Range<Int>) {
        let tokens = try Int(reader.uint16())
        guard tokens > 0 else { throw reader.error(.tokens) }
        let flags = try reader.uint8()
        guard flags & ~BatchLayout.tableAtMostOnce == 0 else { throw reader.error(.flags) }
        let jobID = try reader.shortText(.jobID)
        return (tokens, flags & BatchLayout.tableAtMostOnce != 0, jobID)
    }
}

/// The binary format of a batch, versions 1 and 2. All numbers are big-endian.
///
///     body    := version u8 | jobParts u16 | table(jobPart)* | jobPart*
///     table   := tokens u16 | flags u8 | idLength u8 | job id
///     jobPart := optionsLength u16 | options | payloadLength u32 | payload | push*
///     options := attempt u8 | maxAttempts u8 | priority u8 | pushType u8 | receipts u8 | flags u8
///                | expiration i64 | deadline i64 | registeredAt i64
///                | causeLength u8 | cause | collapseLength u8 | collapse id | topicLength u8 | topic
///     push    := tokenLength u8 | token [ | payloadLength u32 | payload ]
///
/// If the flag of a number is not set, the number is written as 0. If each push has its own payload, the job part's payload is
/// empty. Redis reads only the table.
///
/// A batch has version 2 if a job part has the flag `templates`. In a job part with this flag, the payload of each push has this
/// format:
///
///     content := number u16 [ | template ] | value(slot)*
///
/// `number` selects a ``Template`` of the batch. The templates of a batch are numbered from 0 in the order of their first use. At
/// the first use of a template, `number` is 65,535, and the template follows. A value is encoded as in ``SlotText``.
enum BatchLayout {
    static let version: UInt8 = 1
    /// The version of a batch with templates.
    static let templateVersion: UInt8 = 2
    /// The number that introduces a new template.
    static let newTemplate = UInt16.max
    /// The bit in the table's flags that marks a job part as at-most-once.
    static let tableAtMostOnce: UInt8 = 1

    static let payloadPerPush: UInt8 = 1 << 0
    static let hasExpiration: UInt8 = 1 << 1
    static let hasDeadline: UInt8 = 1 << 2
    static let hasRegisteredAt: UInt8 = 1 << 3
    static let atMostOnce: UInt8 = 1 << 4
    static let templates: UInt8 = 1 << 5
    static let stored: UInt8 = 1 << 6
    static let knownFlags: UInt8 = 0b111_1111
}
