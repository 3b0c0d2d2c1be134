/// Outcomes of pushes in a short form. A record contains a mark of each push: the upper half of the push's id, which is computed
/// from the job's id and the token.
///
///     record := group*
///     group  := outcome u8 | idLength u8 | job id | reasonLength u8 | reason | status u16 | count u16 | count × mark u64
package struct AuditRecord: Sendable {
    package enum Outcome: UInt8, Sendable {
        case delivered = 0x44  // D
        case failed = 0x46  // F
        case expired = 0x45  // E
        case retry = 0x52  // R
    }

    /// Pushes of one job that have the same outcome.
    package struct Group: Equatable, Sendable {
        package let outcome: Outcome
        package let job: String
        /// The reason of the outcome; empty for delivered pushes.
        package let reason: String
        package let status: UInt16
        package let marks: [UInt64]
    }

    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Adds pushes of one job that have the same outcome. `marks` contains the pushes' marks, copied from a report.
    package mutating func append(_ outcome: Outcome, job: String, marks: ArraySlice<UInt8>) {
        begin(outcome, job, "", 0, count: marks.count / 8)
        bytes += marks
    }

    package mutating func append(
        _ outcome: Outcome, job: String, reason: String = "", status: UInt16 = 0,
        tokens: some Collection<ArraySlice<UInt8>>
    ) {
        begin(outcome, job, reason, status, count: tokens.count)
        let marker = PushID.Job(id: job)
        for token in tokens {
            token.withUnsafeBytes { bytes.appendBigEndian(marker.mark(token: $0)) }
        }
    }

    private mutating func begin(
        _ outcome: Outcome, _ job: String, _ reason: String, _ status: UInt16, count: Int
    ) {
        bytes.append(outcome.rawValue)
        bytes.appendShort(job)
        var reason = reason
        reason.withUTF8 { bytes.appendShort(UTF8Text.prefix(UnsafeRawBufferPointer($0), limit: 64)) }
        bytes.appendBigEndian(status)
        bytes.appendBigEndian(UInt16(count))
    }

    /// Reads a sequence of concatenated records.
    package static func groups(_ bytes: [UInt8]) throws(CodecError) -> [Group] {
        try bytes.withUnsafeBufferPointer { (buffer) throws(CodecError) in
            var reader = ByteReader(UnsafeRawBufferPointer(buffer))
            var groups: [Group] = []
            while !reader.isAtEnd {
                guard let outcome = Outcome(rawValue: try reader.uint8()) else { throw reader.error(.kind) }
                let job = reader.text(try reader.shortRange())
                let reason = reader.text(try reader.shortRange())
                let status = try reader.uint16()
                var marks: [UInt64] = []
                for _ in 0..<Int(try reader.uint16()) { marks.append(UInt64(bitPattern: try reader.int64())) }
                groups.append(
                    Group(outcome: outcome, job: job, reason: reason, status: status, marks: marks))
            }
            return groups
        }
    }
}
