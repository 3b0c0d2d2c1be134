import Testing

@testable import Scheduling

/// A TZif file for tests. Each count of the header can be wrong on purpose.
struct TZifBytes {
    var version = UInt8(ascii: "2")
    var changes: [(Int64, UInt8)] = [(1_000_000, 1), (2_000_000, 0)]
    var types: [(Int32, UInt8, UInt8)] = [(3600, 0, 0), (7200, 1, 4)]
    var names: [UInt8] = Array("CET\0CEST\0".utf8)
    var leapSeconds = 0
    var flags = 0
    var footer = "\nCET-1CEST,M3.5.0,M10.5.0/3\n"

    func block(longTimes: Bool) -> [UInt8] {
        var bytes = Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15)
        for count in [flags, flags, leapSeconds, changes.count, types.count, names.count] {
            bytes += big(UInt32(count))
        }
        for (time, _) in changes {
            bytes += longTimes ? big(UInt64(bitPattern: time)) : big(UInt32(truncatingIfNeeded: time))
        }
        bytes += changes.map(\.1)
        for (offset, flag, name) in types { bytes += big(UInt32(bitPattern: offset)) + [flag, name] }
        bytes += names
        bytes += [UInt8](repeating: 0, count: leapSeconds * (longTimes ? 12 : 8) + 2 * flags)
        return bytes
    }

    var bytes: [UInt8] {
        version == 0
            ? block(longTimes: false) : block(longTimes: false) + block(longTimes: true) + Array(footer.utf8)
    }

    private func big<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}

struct TZifFileTests {
    private static func fault(_ bytes: [UInt8]) -> TimeZoneError.Fault? {
        do throws(TimeZoneError) {
            _ = try TimeZoneRules(name: "Test", bytes: bytes)
            return nil
        } catch {
            #expect(!error.description.isEmpty && error.position <= bytes.count)
            return error.fault
        }
    }

    @Test(arguments: ["2", "3", "4", "9"]) func `reads all versions with times of 64 bits`(version: String)
        throws
    {
        var file = TZifBytes(version: UInt8(ascii: version.unicodeScalars.first!))
        file.flags = 2
        let rules = try TimeZoneRules(name: "Test", bytes: file.bytes)
        let offsets = [0, 999_999, 1_000_000, 1_999_999, 2_000_000].map {
            rules.period(at: UTCTime(seconds: $0)).abbreviation
        }
        #expect(offsets == ["CET", "CET", "CEST", "CEST", "CET"])
        #expect(rules.period(at: utc("2500-07-01")).abbreviation == "CEST")
    }

    @Test func `a file of version 1 has no rule for later years`() throws {
        var file = TZifBytes(version: 0)
        file.changes[0].0 = -5
        let rules = try TimeZoneRules(name: "Test", bytes: file.bytes)
        let offsets = [-6, -5, 1_999_999].map { rules.period(at: UTCTime(seconds: $0)).abbreviation }
        #expect(offsets == ["CET", "CEST", "CEST"])
        let last = rules.period(at: utc("2500-07-01"))
        #expect(last.abbreviation == "CET" && last.seconds == 2_000_000..<(1 << 48))
    }

    @Test func `without changes, the rule holds for all times`() throws {
        let file = TZifBytes(changes: [])
        let rules = try TimeZoneRules(name: "Test", bytes: file.bytes)
        #expect(rules.period(at: utc("1970-07-01")).abbreviation == "CEST")
        let empty = try TimeZoneRules(name: "Test", bytes: TZifBytes(changes: [], footer: "\n\n").bytes)
        #expect(empty.period(at: utc("1970-07-01")).abbreviation == "CET")
    }

    private static let hostile: [(TimeZoneError.Fault, [UInt8])] = [
        (.endsTooEarly, []), (.notTZif, Array("GIF89a".utf8)), (.endsTooEarly, Array("TZif".utf8)),
        (.notTZif, TZifBytes(version: UInt8(ascii: "1")).bytes),
        (.notTZif, TZifBytes(version: 0xFF).bytes),
        (.endsTooEarly, TZifBytes().bytes.dropLast()), (.trailingBytes, TZifBytes().bytes + [0]),
        (.trailingBytes, TZifBytes(version: 0).bytes + [0]),
        (.tooLong, [UInt8](repeating: 0x54, count: 65_537)),
        (.order, TZifBytes(changes: [(2, 0), (2, 1)]).bytes),
        (.order, TZifBytes(changes: [(2, 0), (-3, 1)]).bytes),
        (.type, TZifBytes(changes: [(2, 2)]).bytes),
        (.count, TZifBytes(types: []).bytes), (.count, TZifBytes(names: []).bytes),
        (.count, TZifBytes(flags: 1).bytes), (.leapSeconds, TZifBytes(leapSeconds: 1).bytes),
        (.offset, TZifBytes(changes: [], types: [(93_601, 0, 0)]).bytes),
        (.offset, TZifBytes(changes: [], types: [(.min, 0, 0)]).bytes),
        (.flag, TZifBytes(changes: [], types: [(0, 2, 0)]).bytes),
        (.name, TZifBytes(changes: [], types: [(0, 0, 9)]).bytes),
        (.name, TZifBytes(changes: [], types: [(0, 0, 255)]).bytes),
        (.name, TZifBytes(changes: [], types: [(0, 0, 0)], names: Array("CET".utf8)).bytes),
        (.rule, TZifBytes(footer: "CET-1\n").bytes), (.rule, TZifBytes(footer: "\nCET\n").bytes),
        (.endsTooEarly, TZifBytes(footer: "\nCET-1").bytes), (.endsTooEarly, TZifBytes(footer: "").bytes),
        // A header that counts four thousand million changes.
        (
            .endsTooEarly,
            Array(TZifBytes().bytes.prefix(32)) + [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1, 0, 0, 0, 1]
        ),
        (
            .endsTooEarly,
            Array(TZifBytes(version: 0).bytes.prefix(32)) + [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1, 0, 0, 0, 1]
        ),
    ]

    @Test(arguments: hostile) func `refuses bytes that are not a file`(
        fault: TimeZoneError.Fault, bytes: [UInt8]
    ) {
        #expect(Self.fault(bytes) == fault)
    }

    @Test func `a change at the beginning of time does not overflow`() throws {
        let file = TZifBytes(changes: [(.min, 1), (.min + 1, 0), (5, 1), (.max, 0)], footer: "\n\n")
        let rules = try TimeZoneRules(name: "Test", bytes: file.bytes)
        #expect(rules.period(at: UTCTime(seconds: 4)).abbreviation == "CET")
        #expect(rules.period(at: utc("2500-07-01")).abbreviation == "CEST")
    }

    @Test func `a local time that clocks skip may be shown after they are set back`() throws {
        let hour: Int64 = 3600
        let file = TZifBytes(
            changes: [(100 * hour, 1), (101 * hour, 0)], types: [(0, 0, 0), (7200, 1, 4)], footer: "\n\n")
        let rules = try TimeZoneRules(name: "Test", bytes: file.bytes)
        #expect(
            rules.occurrence(of: LocalTime(seconds: 101 * hour)) == .once(UTCTime(seconds: 101 * hour)))
        #expect(
            rules.occurrence(of: LocalTime(seconds: 100 * hour + 60))
                == .skipped(resumeAt: UTCTime(seconds: 100 * hour)))
        #expect(
            rules.occurrence(of: LocalTime(seconds: 102 * hour + 60))
                == .twice(
                    first: UTCTime(seconds: 100 * hour + 60), second: UTCTime(seconds: 102 * hour + 60)))
    }
}
