/// An offset from UTC that a zone uses at some times, such as CEST.
struct LocalTimeType: Hashable, Sendable {
    /// The seconds to add to UTC, within ±26 hours.
    let offset: Int64
    let isDaylightSaving: Bool
    /// The abbreviation, such as `CEST` or `+01`.
    let abbreviation: String

    /// The greatest absolute value of ``offset``.
    static let longestOffset: Int64 = 26 * 3600
}

/// The content of a compiled file of the time zone database.
///
/// Reads versions 1 to 9. From version 2, a file repeats its data with times of 64 bits, and ends with a rule for later years.
/// - Source: RFC 8536, "The Time Zone Information Format (TZif)", sections 3 and 4.
package struct TZifFile: Hashable, Sendable {
    /// The maximum length of a file in bytes. The longest file of the time zone database has 4 kB.
    package static let longest = 65_536

    /// The times at which the zone's offset changes, in seconds since 1970; ascending.
    let changes: [Int64]
    /// For each time of ``changes``, the index in ``types`` of the offset that begins at this time.
    let typeIndexes: [Int]
    /// The offsets of the zone. The first offset is used before the first change. A file has at least one offset.
    let types: [LocalTimeType]
    /// The rule for times after the last change; nil if the last offset remains.
    let rule: POSIXTimeZone?

    package init(_ bytes: [UInt8]) throws(TimeZoneError) {
        guard bytes.count <= Self.longest else {
            throw TimeZoneError(fault: .tooLong, position: Self.longest)
        }
        var reader = TZifReader(bytes)
        let first = try TZifHeader(&reader)
        let data: TZifData
        if first.hasLongTimes {
            try reader.skip(first.dataLength(timeLength: 4))
            data = try TZifData(try TZifHeader(&reader), timeLength: 8, &reader)
            rule = try reader.footer()
        } else {
            data = try TZifData(first, timeLength: 4, &reader)
            rule = nil
        }
        (changes, typeIndexes, types) = (data.changes, data.typeIndexes, data.types)
        try reader.end()
    }
}

/// The 44 bytes before each data block: magic, version, and six counts.
private struct TZifHeader {
    let hasLongTimes: Bool
    let utcFlags: Int
    let standardFlags: Int
    let leapSeconds: Int
    let changes: Int
    let types: Int
    let nameBytes: Int

    init(_ reader: inout TZifReader) throws(TimeZoneError) {
        let start = reader.position
        for byte in "TZif".utf8 {
            guard try reader.byte() == byte else { throw TimeZoneError(fault: .notTZif, position: start) }
        }
        let version = try reader.byte()
        guard version == 0 || (UInt8(ascii: "2")...UInt8(ascii: "9")).contains(version) else {
            throw TimeZoneError(fault: .notTZif, position: start + 4)
        }
        hasLongTimes = version != 0
        try reader.skip(15)
        utcFlags = try reader.count()
        standardFlags = try reader.count()
        leapSeconds = try reader.count()
        changes = try reader.count()
        types = try reader.count()
        nameBytes = try reader.count()
    }

    /// The length in bytes of the data block that follows this header. The counts have 32 bits, so the sum cannot
    /// overflow.
    func dataLength(timeLength: Int) -> Int {
        changes * (timeLength + 1) + types * 6 + nameBytes + leapSeconds * (timeLength + 4) + standardFlags
            + utcFlags
    }
}

/// The data block behind a header.
private struct TZifData {
    private(set) var changes: [Int64] = []
    private(set) var typeIndexes: [Int] = []
    private(set) var types: [LocalTimeType] = []

    init(_ header: TZifHeader, timeLength: Int, _ reader: inout TZifReader) throws(TimeZoneError) {
        let start = reader.position
        guard header.leapSeconds == 0 else { throw TimeZoneError(fault: .leapSeconds, position: start) }
        guard header.types > 0, header.nameBytes > 0, [0, header.types].contains(header.standardFlags),
            [0, header.types].contains(header.utcFlags)
        else { throw TimeZoneError(fault: .count, position: start) }
        // Check the length of the file first, so that a false count cannot make a loop long.
        try reader.require(header.dataLength(timeLength: timeLength))
        changes.reserveCapacity(header.changes)
        for _ in 0..<header.changes {
            let time = try reader.number(timeLength)
            if let last = changes.last, time <= last {
                throw TimeZoneError(fault: .order, position: reader.position - timeLength)
            }
            changes.append(time)
        }
        // Some files begin with a change at -2^59. Times are limited to ±2^48, so that sums do not overflow.
        changes = changes.map { Int64(foreign: $0) }
        for _ in 0..<header.changes {
            let index = Int(try reader.byte())
            guard index < header.types else {
                throw TimeZoneError(fault: .type, position: reader.position - 1)
            }
            typeIndexes.append(index)
        }
        let names = reader.position + header.types * 6
        for _ in 0..<header.types {
            types.append(try reader.type(names: names..<names + header.nameBytes))
        }
        try reader.skip(header.nameBytes + header.standardFlags + header.utcFlags)
    }
}

/// Reads the parts of a file in order, and never beyond the end.
private struct TZifReader {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func require(_ count: Int) throws(TimeZoneError) {
        guard count <= bytes.count - position else {
            throw TimeZoneError(fault: .endsTooEarly, position: bytes.count)
        }
    }

    mutating func skip(_ count: Int) throws(TimeZoneError) {
        try require(count)
        position += count
    }

    mutating func byte() throws(TimeZoneError) -> UInt8 {
        try require(1)
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads a count of 4 bytes, big-endian, without a sign.
    mutating func count() throws(TimeZoneError) -> Int {
        Int(UInt32(truncatingIfNeeded: try number(4)))
    }

    /// Reads a big-endian number with a sign, of 4 or 8 bytes.
    mutating func number(_ length: Int) throws(TimeZoneError) -> Int64 {
        try require(length)
        var number: UInt64 = 0
        for byte in bytes[position..<position + length] { number = number << 8 | UInt64(byte) }
        position += length
        return length == 4
            ? Int64(Int32(truncatingIfNeeded: number)) : Int64(bitPattern: number)
    }

    /// Reads a type: offset of 4 bytes, flag, and the position of the name in the names.
    mutating func type(names: Range<Int>) throws(TimeZoneError) -> LocalTimeType {
        let start = position
        let offset = try number(4)
        guard offset.magnitude <= LocalTimeType.longestOffset.magnitude else {
            throw TimeZoneError(fault: .offset, position: start)
        }
        let flag = try byte()
        guard flag < 2 else { throw TimeZoneError(fault: .flag, position: start + 4) }
        let rest = bytes[names].dropFirst(Int(try byte()))
        guard let end = rest.firstIndex(of: 0) else { throw TimeZoneError(fault: .name, position: start + 5) }
        return LocalTimeType(
            offset: offset, isDaylightSaving: flag == 1,
            abbreviation: String(decoding: rest[..<end], as: UTF8.self))
    }

    /// Reads the footer: a TZ string between two line feeds. The string may be empty.
    mutating func footer() throws(TimeZoneError) -> POSIXTimeZone? {
        let newline = UInt8(ascii: "\n")
        guard try byte() == newline else { throw TimeZoneError(fault: .rule, position: position - 1) }
        let start = position
        guard let end = bytes[start...].firstIndex(of: newline) else {
            throw TimeZoneError(fault: .endsTooEarly, position: bytes.count)
        }
        position = end + 1
        guard end > start else { return nil }
        guard let rule = POSIXTimeZone(bytes[start..<end]) else {
            throw TimeZoneError(fault: .rule, position: start)
        }
        return rule
    }

    func end() throws(TimeZoneError) {
        guard position == bytes.count else { throw TimeZoneError(fault: .trailingBytes, position: position) }
    }
}
