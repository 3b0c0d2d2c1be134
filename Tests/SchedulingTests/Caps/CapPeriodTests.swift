import PushModel
import Scheduling
import Testing

struct CapPeriodTests {
    /// The zone, a time, the period, the first local time of the period, and the start and the end.
    private static let known: [(String, String, CapPeriod, String, String, String)] = [
        (
            "UTC", "2026-11-26T05:59:59.999Z", .hour, "2026-11-26 05:00", "2026-11-26T05:00Z",
            "2026-11-26T06:00Z"
        ),
        ("UTC", "2026-11-26T06:00Z", .hour, "2026-11-26 06:00", "2026-11-26T06:00Z", "2026-11-26T07:00Z"),
        (
            "Asia/Kolkata", "2026-11-26T05:40Z", .hour, "2026-11-26 11:00", "2026-11-26T05:30Z",
            "2026-11-26T06:30Z"
        ),
        (
            "Asia/Tokyo", "2026-11-26T15:00Z", .day, "2026-11-27 00:00", "2026-11-26T15:00Z",
            "2026-11-27T15:00Z"
        ),
        (
            "America/New_York", "2026-11-26T04:59Z", .day, "2026-11-25 00:00", "2026-11-25T05:00Z",
            "2026-11-26T05:00Z"
        ),
        // 2026-11-26 is a Thursday. Weeks begin on Monday, also across the new year.
        (
            "Europe/Berlin", "2026-11-26T12:00Z", .week, "2026-11-23 00:00", "2026-11-22T23:00Z",
            "2026-11-29T23:00Z"
        ),
        (
            "Europe/Berlin", "2026-11-22T22:59Z", .week, "2026-11-16 00:00", "2026-11-15T23:00Z",
            "2026-11-22T23:00Z"
        ),
        (
            "Europe/Berlin", "2027-01-02T12:00Z", .week, "2026-12-28 00:00", "2026-12-27T23:00Z",
            "2027-01-03T23:00Z"
        ),
        // The clocks are set forward: this day is shorter, and this week has 167 hours.
        (
            "Europe/Berlin", "2026-03-29T12:00Z", .day, "2026-03-29 00:00", "2026-03-28T23:00Z",
            "2026-03-29T22:00Z"
        ),
        (
            "Europe/Berlin", "2026-03-29T12:00Z", .week, "2026-03-23 00:00", "2026-03-22T23:00Z",
            "2026-03-29T22:00Z"
        ),
        (
            "Europe/Berlin", "2026-03-29T00:30Z", .hour, "2026-03-29 01:00", "2026-03-29T00:00Z",
            "2026-03-29T01:00Z"
        ),
        (
            "Australia/Lord_Howe", "2026-10-03T15:45Z", .hour, "2026-10-04 02:00", "2026-10-03T15:30Z",
            "2026-10-03T16:00Z"
        ),
        // The clocks are set back: the period of the repeated hour lasts two hours, and this day has 25 hours.
        (
            "Europe/Berlin", "2026-10-25T00:10Z", .hour, "2026-10-25 02:00", "2026-10-25T00:00Z",
            "2026-10-25T02:00Z"
        ),
        (
            "Europe/Berlin", "2026-10-25T01:50Z", .hour, "2026-10-25 02:00", "2026-10-25T00:00Z",
            "2026-10-25T02:00Z"
        ),
        (
            "America/New_York", "2026-11-01T04:30Z", .hour, "2026-11-01 00:00", "2026-11-01T04:00Z",
            "2026-11-01T05:00Z"
        ),
        (
            "Europe/Berlin", "2026-10-25T12:00Z", .day, "2026-10-25 00:00", "2026-10-24T22:00Z",
            "2026-10-25T23:00Z"
        ),
        (
            "Australia/Lord_Howe", "2026-04-04T14:45Z", .hour, "2026-04-05 01:00", "2026-04-04T14:00Z",
            "2026-04-04T15:30Z"
        ),
        // The day before the day that Samoa skipped, and the day after.
        (
            "Pacific/Apia", "2011-12-30T09:00Z", .day, "2011-12-29 00:00", "2011-12-29T10:00Z",
            "2011-12-30T10:00Z"
        ),
        (
            "Pacific/Apia", "2011-12-30T10:00Z", .day, "2011-12-31 00:00", "2011-12-30T10:00Z",
            "2011-12-31T10:00Z"
        ),
    ]

    @Test(arguments: known) func `finds the period of a time`(
        zone: String, time: String, period: CapPeriod, first: String, start: String, end: String
    ) {
        let bucket = period.bucket(at: utc(time), in: Zones[zone])
        #expect(bucket.start == utc(start))
        #expect(bucket.end == utc(end))
        let seconds = [CapPeriod.hour: 3600, .day: 86_400, .week: 604_800][period]!
        let monday: Int64 = period == .week ? 3 * 86_400 : 0
        #expect(bucket.number == (local(first).seconds + monday) / Int64(seconds))
    }
}
