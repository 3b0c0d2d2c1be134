import Testing

@testable import PushModel

struct TimeTextTests {
    @Test(
        arguments: [
            ("90s", 90_000), ("15m", 900_000), ("1h", 3_600_000), ("3d", 259_200_000), ("500ms", 500),
            ("1h30m", 5_400_000), ("1d2h3m4s5ms", 93_784_005), ("1.5h", 5_400_000), ("0s", 0), ("0.25s", 250),
            ("366000d", 31_622_400_000_000),
        ] as [(String, Int64)])
    func `a duration has a unit after each number`(text: String, milliseconds: Int64) {
        #expect(TimeText.duration(text) == milliseconds)
    }

    @Test(arguments: [
        "", "90", "s", "1x", "-1s", "+1s", "1 h", "30m1h", "1h1h", "1..5s", ".5s", "1.s", "1e3s", "١s",
        "366001d",
        "99999999999999999999s", "999999999999999999999999s", "1h ", "PT1H", "1H", "nans", "infs",
        String(repeating: "1", count: 41) + "s",
    ])
    func `an invalid duration is refused`(text: String) { #expect(TimeText.duration(text) == nil) }

    @Test(
        arguments: [
            ("1h30", "30 needs a unit: d, h, m, s or ms"), ("90", "90 needs a unit: d, h, m, s or ms"),
            ("5w", "there is no unit w: d, h, m, s or ms"), ("1H", "there is no unit H: d, h, m, s or ms"),
            ("30m1h", "each unit is given once, the longer one first, as in 1h30m"),
            ("-1s", "a duration is not negative"), ("366001d", "a duration is at most a thousand years"),
            ("soon", nil), ("1 h", nil), ("", nil),
        ] as [(String, String?)])
    func `an invalid duration has an explanation`(text: String, advice: String?) throws {
        let fault = #expect(throws: TimeText.Fault.self) { try TimeText.readDuration(text) }
        #expect(fault?.advice == advice)
    }

    @Test(
        arguments: [
            ("1970-01-01", 0), ("1970-01-02", 86_400_000), ("1970-01-01T00:01:02Z", 62_000),
            ("2000-02-29", 951_782_400_000), ("2026-05-01T10:00Z", 1_777_629_600_000),
            ("2026-05-01T10:00:00.5Z", 1_777_629_600_500),
            ("2026-05-01T12:00:00+02:00", 1_777_629_600_000), ("2026-05-01T04:30-0530", 1_777_629_600_000),
            ("2100-03-01", 4_107_542_400_000), ("1970-01-01T00:00:60Z", 60_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ] as [(String, Int64)])
    func `a moment contains its time zone`(text: String, milliseconds: Int64) {
        #expect(TimeText.moment(text) == milliseconds)
    }

    @Test(arguments: [
        "", "x", "1780000000", "2026", "2026-05", "2026-5-1", "2026-13-01", "2026-00-01", "2026-02-29",
        "2100-02-29",
        "2026-04-31", "1969-12-31", "10000-01-01", "2026-05-01T", "2026-05-01T10:00", "2026-05-01T10:00:00",
        "2026-05-01T24:00Z", "2026-05-01T10:60Z", "2026-05-01T10:00:61Z", "2026-05-01T1:00Z",
        "2026-05-01T10Z",
        "2026-05-01 10:00Z", "2026-05-01T10:00+2", "2026-05-01T10:00+15:00", "2026-05-01T10:00+02:60",
        "2026-05-01T10:00+0:200", "2026-05-01T10:00:00z", "2026-05-01T10:00:00.Z", "２０２６-05-01",
        "2026-05-01T10:00:00Z ", "2026-05-01T10:00:0é0Z", "-", "T", "--T::Z",
    ])
    func `an invalid moment is refused`(text: String) { #expect(TimeText.moment(text) == nil) }

    @Test(
        arguments: [
            ("2026-05-01T10:00:00", "a time needs a time zone, such as Z or +02:00"),
            ("2026-05-01T10:00:00z", "a time needs a time zone, such as Z or +02:00"),
            ("2026-05-01T10:00+2", "a time zone is like Z or +02:00"),
            ("2026-05-01 10:00Z", "date and time are joined by a T, as in 2026-05-01T10:00:00Z"),
            ("2026-02-29", "there is no such day"), ("1969-12-31", "a time is not before 1970"),
            ("2026-05-01T24:00Z", "the time of day is like 10:00 or 10:00:00"), ("tomorrow", nil), ("", nil),
        ] as [(String, String?)])
    func `an invalid moment has an explanation`(text: String, advice: String?) throws {
        let fault = #expect(throws: TimeText.Fault.self) { try TimeText.readMoment(text) }
        #expect(fault?.advice == advice)
    }

    @Test(
        arguments: [
            ("0", 0), ("1700000000", 1_700_000_000), ("4294967295", 4_294_967_295), ("3d", 1_699_740_800),
            ("1970-01-02T00:00:01.9Z", 86_401), ("2106-02-07T06:28:15Z", 4_294_967_295),
        ] as [(String, Int64)])
    func `a start time is a number, a moment or an age`(text: String, seconds: Int64) {
        #expect(TimeText.since(text, now: 1_700_000_000) == seconds)
    }

    @Test(arguments: [
        "", "-1", "4294967296", "2106-02-07T06:28:16Z", "20000d", "yesterday", "1.5", "1700000000.0",
    ])
    func `an invalid start time is refused`(text: String) {
        #expect(TimeText.since(text, now: 1_700_000_000) == nil)
    }
}
