import PushModel
import RandomTesting
import Scheduling
import Testing

struct CronExpressionTests {
    /// The expression, the zone, a time, and the next starts.
    private static let known: [(String, String, String, [String])] = [
        ("30 5 * * *", "UTC", "2026-11-26T05:29:59.999Z", ["2026-11-26T05:30Z", "2026-11-27T05:30Z"]),
        ("30 5 * * *", "UTC", "2026-11-26T05:30Z", ["2026-11-27T05:30Z"]),
        ("30 5 * * *", "Asia/Tokyo", "2026-11-26T00:00Z", ["2026-11-26T20:30Z"]),
        (
            "*/20 8-9 * * *", "UTC", "2026-11-26T08:30Z",
            [
                "2026-11-26T08:40Z", "2026-11-26T09:00Z", "2026-11-26T09:20Z", "2026-11-26T09:40Z",
                "2026-11-27T08:00Z",
            ]
        ),
        (
            "5-59/25,7 0 * * *", "UTC", "2026-11-26",
            [
                "2026-11-26T00:05Z", "2026-11-26T00:07Z", "2026-11-26T00:30Z", "2026-11-26T00:55Z",
            ]
        ),
        ("0 6 * * mon-fri", "UTC", "2026-11-27T07:00Z", ["2026-11-30T06:00Z", "2026-12-01T06:00Z"]),
        ("0 6 * * Sat-Sun", "UTC", "2026-11-27T07:00Z", ["2026-11-28T06:00Z", "2026-11-29T06:00Z"]),
        ("0 6 * * 6-7", "UTC", "2026-11-27T07:00Z", ["2026-11-28T06:00Z", "2026-11-29T06:00Z"]),
        ("0 6 * * 0", "UTC", "2026-11-27T07:00Z", ["2026-11-29T06:00Z", "2026-12-06T06:00Z"]),
        ("0 0 1 JAN *", "UTC", "2026-11-27", ["2027-01-01", "2028-01-01"]),
        ("0 0 31 * *", "UTC", "2026-11-27", ["2026-12-31", "2027-01-31", "2027-03-31"]),
        // If the expression restricts both the day of the month and the day of the week, one matching day is enough.
        (
            "0 0 13 * fri", "UTC", "2026-11-27T12:00Z",
            ["2026-12-04", "2026-12-11", "2026-12-13", "2026-12-18"]
        ),
        ("0 0 13 * *", "UTC", "2026-11-27", ["2026-12-13", "2027-01-13"]),
        ("0 0 13 * 0-6", "UTC", "2026-11-27", ["2026-12-13", "2027-01-13"]),
        ("0 0 1-31 * fri", "UTC", "2026-11-27T12:00Z", ["2026-12-04", "2026-12-11"]),
        ("0 0 30 2 mon", "UTC", "2026-11-27", ["2027-02-01", "2027-02-08"]),
        // The longest search.
        ("0 0 29 2 *", "UTC", "2096-02-29", ["2104-02-29", "2108-02-29"]),
        ("59 23 31 12 *", "UTC", "2026-12-31T23:59Z", ["2027-12-31T23:59Z"]),
        // The clocks are set forward: the expression starts once, at the first time after the gap.
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:30Z"]),
        (
            "0,15,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z",
            ["2026-03-29T01:00Z", "2026-03-30T00:00Z"]
        ),
        ("30 2,3 * * *", "Europe/Berlin", "2026-03-29T00:59Z", ["2026-03-29T01:00Z", "2026-03-29T01:30Z"]),
        ("0 12 30 12 *", "Pacific/Apia", "2011-12-29T00:00Z", ["2011-12-30T10:00Z", "2012-12-29T22:00Z"]),
        (
            "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00Z",
            ["2026-10-03T15:30Z", "2026-10-04T15:15Z"]
        ),
        ("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00Z", ["2018-11-04T03:00Z", "2018-11-05T02:00Z"]),
        // The clocks are set back: the expression starts once, when the local time occurs for the first time.
        ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T01:00Z", ["2026-10-26T01:30Z"]),
        ("*/30 * * * *", "Europe/Berlin", "2026-10-25T00:00Z", ["2026-10-25T00:30Z", "2026-10-25T02:00Z"]),
        ("30 1 * * *", "America/New_York", "2026-10-31T12:00Z", ["2026-11-01T05:30Z", "2026-11-02T06:30Z"]),
        ("45 0 * * *", "Antarctica/Troll", "2026-10-24T12:00Z", ["2026-10-24T22:45Z", "2026-10-26T00:45Z"]),
    ]

    @Test(arguments: known) func `finds the next starts`(
        text: String, zone: String, time: String, starts: [String]
    ) throws {
        let expression = try CronExpression(text)
        #expect(expression.description == text)
        var time = utc(time)
        for start in starts {
            time = try #require(expression.next(after: time, in: Zones[zone]))
            #expect(time == utc(start), "\(Zones[zone].localTime(at: time)), not \(start)")
        }
    }

    /// The expression, and the description of the error with its position.
    private static let refused: [(String, String, Int)] = [
        (
            "",
            "a cron expression has five fields (minute, hour, day of the month, month, day of the week), not 0",
            0
        ),
        (
            "@daily",
            "a cron expression has five fields (minute, hour, day of the month, month, day of the week), not 1",
            0
        ),
        (
            "* * * * * *",
            "a cron expression has five fields (minute, hour, day of the month, month, day of the week), not 6",
            0
        ),
        ("60 * * * *", "minute \"60\": a number from 0 to 59 is needed", 0),
        ("0 24 * * *", "hour \"24\": a number from 0 to 23 is needed", 2),
        ("0  1,25 * * *", "hour \"25\": a number from 0 to 23 is needed", 5),
        ("0 0 0 * *", "day of the month \"0\": a number from 1 to 31 is needed", 4),
        ("0 0 32 * *", "day of the month \"32\": a number from 1 to 31 is needed", 4),
        ("0 0 1 13 *", "month \"13\": a number from 1 to 12 is needed", 6),
        ("0 0 1 janu *", "month \"janu\": a number from 1 to 12, or a name from jan to dec, is needed", 6),
        ("0 0 * * 8", "day of the week \"8\": a number from 0 to 7 is needed", 8),
        (
            "0 0 * * mon,tues",
            "day of the week \"tues\": a number from 0 to 7, or a name from sun to sat, is needed", 12
        ),
        ("0 noon * * *", "hour \"noon\": a number from 0 to 23 is needed", 2),
        ("0 9-5 * * *", "hour \"9-5\": a range goes from the lower to the higher value", 2),
        (
            "0 0 * * fri-mon", "day of the week \"fri-mon\": a range goes from the lower to the higher value",
            8
        ),
        ("*/0 * * * *", "minute \"*/0\": a step is a number above 0, like */15", 0),
        ("*/x * * * *", "minute \"*/x\": a step is a number above 0, like */15", 0),
        ("*/-5 * * * *", "minute \"*/-5\": a step is a number above 0, like */15", 0),
        (
            "*/99999999999999999999 * * * *",
            "minute \"*/99999999999999999999\": a step is a number above 0, like */15", 0
        ),
        ("5/15 * * * *", "minute \"5/15\": a step needs a range, like 5-59/15", 0),
        (
            "99999999999999999999 * * * *",
            "minute \"99999999999999999999\": a number from 0 to 59 is needed", 0
        ),
        (
            "-1 * * * *",
            "minute \"-1\": write *, a number, a range like 1-5, or a list like 1,15; a range may have a step, like */15",
            0
        ),
        (
            "1, * * * *",
            "minute \"\": write *, a number, a range like 1-5, or a list like 1,15; a range may have a step, like */15",
            2
        ),
        (
            "1-2-3 * * * *",
            "minute \"1-2-3\": write *, a number, a range like 1-5, or a list like 1,15; a range may have a step, like */15",
            0
        ),
        (
            "*/2/2 * * * *",
            "minute \"*/2/2\": write *, a number, a range like 1-5, or a list like 1,15; a range may have a step, like */15",
            0
        ),
        ("0 0 30 2 *", "day of the month \"30\": none of the months has such a day", 4),
        ("0 0 31 4,6,9,11 *", "day of the month \"31\": none of the months has such a day", 4),
        ("0 0 31 feb 0-6", "day of the month \"31\": none of the months has such a day", 4),
    ]

    @Test(arguments: refused) func `refuses other text, and points at the field`(
        text: String, description: String, position: Int
    ) {
        let error = #expect(throws: CronError.self) { try CronExpression(text) }
        #expect(error?.description == description)
        #expect(error?.position == position)
    }

    @Test func `refuses a long text`() {
        let text = "0 0 * * " + Array(repeating: "1", count: 200).joined(separator: ",")
        #expect(throws: CronError.self) { try CronExpression(text) }
    }

    @Test func `any text is read or refused`() throws {
        var random = SplitMix(seed: 77)
        let items = [
            "*", "*", "5", "2", "31", "1-5", "*/7", "mon", "feb", "0", "é", "\u{0}", "12-3", "1,6", "-", "",
        ]
        var read = 0
        for _ in 0..<8_000 {
            let fields = (0..<5).map { _ in items[random.int(in: 0...items.count - 1)] }
            let separator = random.chance(20) ? ["", "/", "\t", "-"][random.int(in: 0...3)] : " "
            guard let expression = try? CronExpression(fields.joined(separator: separator)) else { continue }
            read += 1
            let next = expression.next(after: utc("2095-06-01"), in: Zones["Europe/Berlin"])
            try BrokenInvariant.unless(next != nil, "\(expression) never starts")
        }
        #expect(read > 200)
    }
}
