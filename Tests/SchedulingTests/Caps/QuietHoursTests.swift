import RandomTesting
import Scheduling
import Testing

struct QuietHoursTests {
    private static func hours(_ from: String, _ to: String) throws -> QuietHours {
        try QuietHours(from: #require(TimeOfDay(from)), to: #require(TimeOfDay(to)))
    }

    /// From, to, the zone, a time, and the end of the quiet time; nil if the time is not quiet.
    private static let known: [(String, String, String, String, String?)] = [
        ("22:00", "07:00", "UTC", "2026-11-26T21:59:59.999Z", nil),
        ("22:00", "07:00", "UTC", "2026-11-26T22:00Z", "2026-11-27T07:00Z"),
        ("22:00", "07:00", "UTC", "2026-11-27T06:59:59.999Z", "2026-11-27T07:00Z"),
        ("22:00", "07:00", "UTC", "2026-11-27T07:00Z", nil),
        ("12:00", "14:00", "Asia/Kolkata", "2026-11-26T06:30Z", "2026-11-26T08:30Z"),
        ("22:00", "24:00", "UTC", "2026-11-26T23:00Z", "2026-11-27T00:00Z"),
        ("00:00", "06:00", "Asia/Tokyo", "2026-11-26T15:00Z", "2026-11-26T21:00Z"),
        // Clocks set forward at 01:00 UTC, from 02:00 to 03:00.
        ("22:00", "07:00", "Europe/Berlin", "2026-03-28T22:00Z", "2026-03-29T05:00Z"),
        ("22:00", "02:30", "Europe/Berlin", "2026-03-29T00:59Z", "2026-03-29T01:00Z"),
        ("02:10", "02:50", "Europe/Berlin", "2026-03-29T01:10Z", nil),
        // Clocks set back at 01:00 UTC, from 03:00 to 02:00.
        ("22:00", "07:00", "Europe/Berlin", "2026-10-24T22:00Z", "2026-10-25T06:00Z"),
        ("22:00", "02:30", "Europe/Berlin", "2026-10-25T00:20Z", "2026-10-25T00:30Z"),
        ("22:00", "02:30", "Europe/Berlin", "2026-10-25T00:40Z", nil),
        ("22:00", "02:30", "Europe/Berlin", "2026-10-25T01:10Z", "2026-10-25T01:30Z"),
        // The day that Samoa skipped.
        ("22:00", "07:00", "Pacific/Apia", "2011-12-30T09:00Z", "2011-12-30T17:00Z"),
    ]

    @Test(arguments: known) func `clocks decide what is quiet`(
        from: String, to: String, zone: String, time: String, end: String?
    ) throws {
        let hours = try Self.hours(from, to)
        #expect(hours.contains(utc(time), in: Zones[zone]) == (end != nil))
        #expect(hours.end(at: utc(time), in: Zones[zone]) == utc(end ?? time))
    }

    @Test(arguments: [("00:00", "00:00"), ("07:00", "07:00"), ("00:00", "24:00")])
    func `no time and the whole day are refused`(from: String, to: String) {
        #expect(throws: ScheduleError.self) { try Self.hours(from, to) }
    }

    @Test(arguments: recordedZones.map(\.name)) func `finds all quiet times of a range`(
        zone: String
    ) throws {
        let rules = Zones[zone]
        let changes = recordedZones.first { $0.name == zone }!.changeTimes.map(\.time)
        var random = SplitMix(seed: 12)
        for _ in 0..<8 {
            let texts = (0..<2).map { _ in
                TimeOfDay("0\(random.int(in: 0...9)):\(random.int(in: 10...59))")!
            }
            guard texts[0] != texts[1] else { continue }
            let hours = try QuietHours(from: texts[0], to: texts[1])
            let change = changes[random.int(in: 0...changes.count - 1)] / 60 * 60
            let start = UTCTime(seconds: change - Int64(random.int(in: 0...1500)) * 60)
            let end = start.adding(milliseconds: 30 * 3_600_000)
            let quiet = hours.quietTimes(in: start..<end, zone: rules)
            for minute in 0..<30 * 60 {
                let time = start.adding(milliseconds: Int64(minute) * 60_000)
                try BrokenInvariant.unless(
                    (quiet.range(at: time) != nil) == hours.contains(time, in: rules),
                    "\(hours) at \(time)")
            }
        }
    }
}
