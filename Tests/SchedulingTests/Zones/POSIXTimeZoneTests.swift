import RandomTesting
import Testing

@testable import Scheduling

struct POSIXTimeZoneTests {
    private static func rule(_ text: String) -> POSIXTimeZone? { POSIXTimeZone(Array(text.utf8)[...]) }

    /// The rule, a year, and the times of the year's start and end of daylight-saving time. The values are from glibc.
    private static let changes: [(String, Int64, String, String)] = [
        ("CET-1CEST,M3.5.0,M10.5.0/3", 2026, "2026-03-29T01:00Z", "2026-10-25T01:00Z"),
        ("EST5EDT,M3.2.0,M11.1.0", 2026, "2026-03-08T07:00Z", "2026-11-01T06:00Z"),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 2026, "2026-10-03T15:30Z", "2026-04-04T15:00Z"),
        ("IST-2IDT,M3.4.4/26,M10.5.0", 2026, "2026-03-27T00:00Z", "2026-10-24T23:00Z"),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 2026, "2026-03-29T01:00Z", "2026-10-25T01:00Z"),
        ("AAA0BBB,J60,J365/0", 2028, "2028-03-01T02:00Z", "2028-12-30T23:00Z"),
        ("AAA0BBB,59,365/0", 2028, "2028-02-29T02:00Z", "2028-12-30T23:00Z"),
    ]

    @Test(arguments: changes) func `computes the changes of a year`(
        text: String, year: Int64, start: String, end: String
    ) throws {
        let changes = try #require(Self.rule(text)).changes(in: year)
        #expect(changes.map(\.time) == [utc(end).seconds, utc(start).seconds])
    }

    @Test(arguments: [
        "XXX3EDT4,0/0,J365/23", "EST5EDT,0/0,J365/25",
    ]) func `daylight-saving time may last all year`(text: String) throws {
        let rules = try TimeZoneRules(
            name: "Test", bytes: TZifBytes(changes: [], footer: "\n\(text)\n").bytes)
        for time in [
            "2026-01-01T00:00Z", "2026-01-01T04:00Z", "2026-07-01", "2027-01-01T03:00Z", "2028-12-31T23:59Z",
        ] {
            #expect(rules.period(at: utc(time)).abbreviation == "EDT", "\(time)")
        }
    }

    @Test(arguments: [
        "", "CET", "CE-1", "-1", "CET-25", "CET-1:60", "CET-1:00:60", "CET--1", "CET-1CEST",
        "CET-1CEST,M3.5.0",
        "CET-1CEST,M3.5.0,", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M0.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.0.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J1", "CET-1CEST,J366,J1",
        "CET-1CEST,366,1", "CET-1CEST,M3.5.0/168,M10.5.0", "CET-1CEST,M3.5.0,M10.5.0/3 ", "<CET-1", "<+1>-1",
        "CET-1CEST,M3.5.0,M10.5.0,", "CET-99999999999999999999", "CÉT-1", "CET-1CEST,M3.5.0/,M10.5.0",
    ]) func `refuses other text`(text: String) {
        #expect(Self.rule(text) == nil)
    }
}
