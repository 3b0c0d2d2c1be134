import PushModel
import Scheduling
import Testing

struct CampaignWindowTests {
    @Test(arguments: [("00:00", 0), ("05:30", 330), ("23:59", 1439), ("24:00", 1440)])
    func `reads times of day`(text: String, minutes: Int) {
        #expect(TimeOfDay(text)?.minutes == minutes)
        #expect(TimeOfDay(text)?.description == text)
    }

    @Test(arguments: [
        "", "5:30", "05:60", "24:01", "25:00", "05:30:00", "0530", "-1:00", "05: 0", "+5:00", "٠٥:٣٠",
    ])
    func `refuses other times of day`(text: String) {
        #expect(TimeOfDay(text) == nil)
    }

    /// The window, the zone, the date, and the start and the end.
    private static let known: [(String, String, String, String, String, String)] = [
        ("05:00", "07:00", "Europe/Berlin", "2026-11-26", "2026-11-26T04:00Z", "2026-11-26T06:00Z"),
        ("22:00", "06:00", "Europe/Berlin", "2026-11-26", "2026-11-26T21:00Z", "2026-11-27T05:00Z"),
        ("00:00", "24:00", "Asia/Kolkata", "2026-11-26", "2026-11-25T18:30Z", "2026-11-26T18:30Z"),
        // The clocks are set forward or back within the window.
        ("01:00", "04:00", "Europe/Berlin", "2026-03-29", "2026-03-29T00:00Z", "2026-03-29T02:00Z"),
        ("02:30", "04:00", "Europe/Berlin", "2026-03-29", "2026-03-29T01:00Z", "2026-03-29T02:00Z"),
        ("01:00", "04:00", "Europe/Berlin", "2026-10-25", "2026-10-24T23:00Z", "2026-10-25T03:00Z"),
        ("01:00", "02:30", "Europe/Berlin", "2026-10-25", "2026-10-24T23:00Z", "2026-10-25T00:30Z"),
        ("02:30", "04:00", "Europe/Berlin", "2026-10-25", "2026-10-25T00:30Z", "2026-10-25T03:00Z"),
        // Clocks skip the whole window.
        ("02:10", "02:50", "Europe/Berlin", "2026-03-29", "2026-03-29T01:00Z", "2026-03-29T01:00Z"),
        ("05:00", "07:00", "Pacific/Apia", "2011-12-30", "2011-12-30T10:00Z", "2011-12-30T10:00Z"),
    ]

    @Test(arguments: known) func `is in the zone's local time`(
        from: String, to: String, zone: String, date: String, start: String, end: String
    ) throws {
        let window = try CampaignWindow(from: TimeOfDay(from)!, to: TimeOfDay(to)!, zone: .device)
        let day = CivilDate(dayNumber: utc(date).seconds / 86_400)
        #expect(window.times(on: day, in: Zones[zone]) == utc(start)..<utc(end))
        #expect(window.description == "\(from)–\(to)")
    }

    @Test func `refuses a window without time`() {
        let error = #expect(throws: ScheduleError.self) {
            try CampaignWindow(from: TimeOfDay("05:00")!, to: TimeOfDay("05:00")!, zone: .device)
        }
        #expect(error?.description == "window: the window starts and ends at 05:00, so it contains no time")
    }
}

struct AvoidedMinutesTests {
    /// The avoided minutes, the zone, a range, and the allowed times.
    private static let known: [([Int], String, String, String, [[String]])] = [
        ([], "UTC", "2026-11-26T05:00Z", "2026-11-26T06:00Z", [["2026-11-26T05:00Z", "2026-11-26T06:00Z"]]),
        (
            [0, 30], "UTC", "2026-11-26T05:00Z", "2026-11-26T06:15Z",
            [
                ["2026-11-26T05:01Z", "2026-11-26T05:30Z"], ["2026-11-26T05:31Z", "2026-11-26T06:00Z"],
                ["2026-11-26T06:01Z", "2026-11-26T06:15Z"],
            ]
        ),
        // The minutes of the zone's clocks. India is 5:30 before UTC.
        (
            [0], "Asia/Kolkata", "2026-11-26T05:00Z", "2026-11-26T06:00Z",
            [["2026-11-26T05:00Z", "2026-11-26T05:30Z"], ["2026-11-26T05:31Z", "2026-11-26T06:00Z"]]
        ),
        // Lord Howe's clocks go from 02:00 to 02:30, so minute 0 comes half an hour late.
        (
            [0], "Australia/Lord_Howe", "2026-10-03T15:00Z", "2026-10-03T16:30Z",
            [["2026-10-03T15:00Z", "2026-10-03T16:00Z"], ["2026-10-03T16:01Z", "2026-10-03T16:30Z"]]
        ),
        ([59, 0], "UTC", "2026-11-26T05:59Z", "2026-11-26T06:01Z", []),
        (
            [59, 0], "UTC", "2026-11-26T05:58:59.999Z", "2026-11-26T06:01Z",
            [["2026-11-26T05:58:59.999Z", "2026-11-26T05:59Z"]]
        ),
    ]

    @Test(arguments: known) func `leaves minutes of the zone's clocks out`(
        minutes: [Int], zone: String, from: String, to: String, allowed: [[String]]
    ) throws {
        let times = try AvoidedMinutes(minutes).allowedTimes(in: utc(from)..<utc(to), zone: Zones[zone])
        #expect(times.ranges == allowed.map { utc($0[0])..<utc($0[1]) })
    }

    @Test(arguments: [
        ([60], "avoid: 60 is not a minute of the hour, 0 to 59"),
        ([-1], "avoid: -1 is not a minute of the hour, 0 to 59"),
        (Array(0...59), "avoid: the list has all minutes of the hour, so no minute is left for sending"),
    ]) func `refuses minutes that no hour has`(minutes: [Int], text: String) {
        let error = #expect(throws: ScheduleError.self) { try AvoidedMinutes(minutes) }
        #expect(error?.description == text)
    }
}
