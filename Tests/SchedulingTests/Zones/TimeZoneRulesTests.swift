import Foundation
import RandomTesting
import Scheduling
import Testing

struct TimeZoneRulesTests {
    @Test(arguments: recordedZones) func `agrees with another reader about every change until 2060`(
        zone: RecordedZone
    ) throws {
        let rules = Zones[zone.name]
        let changes = zone.changeTimes
        for (index, change) in changes.enumerated() {
            // The test reads the zone at the change, in the middle of the period after the change, and in the period's last
            // second.
            let end =
                changes.indices.contains(index + 1) ? changes[index + 1].time : utc("2060-01-01").seconds
            for second in [change.time, (change.time + end) / 2, end - 1] {
                let period = rules.period(at: UTCTime(seconds: second))
                guard period.offset == change.type.offset, period.abbreviation == change.type.abbreviation,
                    period.seconds.contains(second)
                else {
                    Issue.record("at \(second): \(period), not \(change.type)")
                    return
                }
            }
        }
    }

    private static let unusual: [(String, String, String, String)] = [
        // The clocks are set forward: a skipped local time stands for the first time after the gap.
        ("Europe/Berlin", "2026-03-29 02:30", "2026-03-29T01:00Z", "2026-03-29T01:00Z"),
        ("Europe/Berlin", "2026-03-29 02:00", "2026-03-29T01:00Z", "2026-03-29T01:00Z"),
        ("Europe/Berlin", "2026-03-29 03:00", "2026-03-29T01:00Z", "2026-03-29T01:00Z"),
        ("Europe/Berlin", "2099-03-29 02:30", "2099-03-29T01:00Z", "2099-03-29T01:00Z"),
        ("Australia/Lord_Howe", "2026-10-04 02:15", "2026-10-03T15:30Z", "2026-10-03T15:30Z"),
        ("America/New_York", "2026-03-08 02:59", "2026-03-08T07:00Z", "2026-03-08T07:00Z"),
        // Samoa skipped this day, so the result is the first time of the next day.
        ("Pacific/Apia", "2011-12-30 12:00", "2011-12-30T10:00Z", "2011-12-30T10:00Z"),
        ("Pacific/Apia", "2011-12-31 00:00", "2011-12-30T10:00Z", "2011-12-30T10:00Z"),
        ("Antarctica/Troll", "2026-03-29 02:30", "2026-03-29T01:00Z", "2026-03-29T01:00Z"),
        // The clocks are set back: a repeated local time has two results.
        ("Europe/Berlin", "2026-10-25 02:30", "2026-10-25T00:30Z", "2026-10-25T01:30Z"),
        ("America/New_York", "2026-11-01 01:30", "2026-11-01T05:30Z", "2026-11-01T06:30Z"),
        ("Australia/Lord_Howe", "2026-04-05 01:45", "2026-04-04T14:45Z", "2026-04-04T15:15Z"),
        ("Antarctica/Troll", "2026-10-25 02:00", "2026-10-25T00:00Z", "2026-10-25T02:00Z"),
        // In Ramadan, Morocco's clocks are an hour behind the clocks of the rest of the year.
        ("Africa/Casablanca", "2026-02-15 02:30", "2026-02-15T01:30Z", "2026-02-15T02:30Z"),
        // Brazil has abolished daylight-saving time: the first row is before that, and the second row is after it.
        ("America/Sao_Paulo", "2018-11-04 00:30", "2018-11-04T03:00Z", "2018-11-04T03:00Z"),
        ("America/Sao_Paulo", "2026-11-04 00:30", "2026-11-04T03:30Z", "2026-11-04T03:30Z"),
        ("Asia/Kolkata", "2026-11-26 05:00", "2026-11-25T23:30Z", "2026-11-25T23:30Z"),
        ("Asia/Tokyo", "2026-11-26 05:00", "2026-11-25T20:00Z", "2026-11-25T20:00Z"),
        ("UTC", "2026-11-26 05:00", "2026-11-26T05:00Z", "2026-11-26T05:00Z"),
    ]

    @Test(arguments: unusual) func `finds local times that clocks skip or show twice`(
        zone: String, time: String, first: String, last: String
    ) {
        let occurrence = Zones[zone].occurrence(of: local(time))
        #expect(occurrence.first == utc(first))
        #expect(occurrence.last == utc(last))
    }

    @Test func `Dublin has daylight-saving time in winter`() {
        let rules = Zones["Europe/Dublin"]
        let (winter, summer) = (
            rules.period(at: utc("2026-01-01")), rules.period(at: utc("2050-07-01"))
        )
        #expect(winter.isDaylightSaving && winter.offset == 0 && winter.abbreviation == "GMT")
        #expect(!summer.isDaylightSaving && summer.offset == 3600 && summer.abbreviation == "IST")
    }

    @Test func `times at the limit do not overflow`() {
        let latest = UTCTime(milliseconds: .max)
        #expect(latest.milliseconds == 1 << 48 && latest.adding(milliseconds: .max) == latest)
        #expect(UTCTime(seconds: .min) == UTCTime(milliseconds: -(1 << 48)))
        #expect(UTCTime(milliseconds: -1).seconds == -1)
        for zone in recordedZones.map({ Zones[$0.name] }) {
            for limit in [Int64.min, .max] {
                #expect(zone.period(at: UTCTime(milliseconds: limit)).offset.magnitude < 100_000)
                #expect(zone.localTime(at: UTCTime(seconds: limit)) != LocalTime(seconds: 0))
                _ = zone.occurrence(of: LocalTime(seconds: limit))
            }
        }
    }

    @Test func `reads every file of the system's time zone database`() throws {
        let root = URL(fileURLWithPath: "/usr/share/zoneinfo")
        let table = try String(contentsOf: root.appendingPathComponent("tzdata.zi"), encoding: .utf8)
        // A line of a zone is "Z NAME …"; a line of another name is "L NAME OTHER-NAME".
        let names = table.split(separator: "\n").compactMap { line -> Substring? in
            let words = line.split(separator: " ")
            return words.first == "Z" ? words[1] : words.first == "L" ? words[2] : nil
        }
        #expect(names.count > 400)
        var files: Set<Data> = []
        for name in names {
            let file = try Data(contentsOf: root.appendingPathComponent(String(name)))
            let rules = try TimeZoneRules(name: String(name), bytes: Array(file))
            // Many zones have several names.
            guard files.insert(file).inserted else { continue }
            var time = utc("1970-01-01")
            while time < utc("2100-01-01") {
                let period = rules.period(at: time)
                try BrokenInvariant.unless(
                    period.offset.magnitude <= 15 * 3600 && period.abbreviation.utf8.count >= 3,
                    "\(name) at \(time): \(period)")
                time = UTCTime(seconds: min(period.seconds.upperBound, utc("2100-01-01").seconds))
            }
        }
    }
}
