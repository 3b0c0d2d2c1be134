import RandomTesting
import Scheduling
import Testing

struct RunCalendarTests {
    private static func calendar(
        _ cron: String, _ zone: String = "UTC", minutes: Int64 = 60
    ) throws -> RunCalendar {
        try RunCalendar(
            campaign: "daily", cron: CronExpression(cron), zone: Zones[zone], window: minutes * 60_000)
    }

    /// The last handled time, the running run, now, the run that starts, the notices, and the next wake-up time.
    private static let known: [(String, String?, String, String?, [String], String)] = [
        ("2026-11-26T05:00Z", nil, "2026-11-26T05:29Z", nil, [], "2026-11-26T05:30Z"),
        (
            "2026-11-26T05:00Z", nil, "2026-11-26T05:30Z", "daily.2026-11-26T0530", [],
            "2026-11-27T05:30Z"
        ),
        // A start that is handled is not due again.
        ("2026-11-26T05:30Z", nil, "2026-11-26T05:30Z", nil, [], "2026-11-27T05:30Z"),
        // A missed run starts while its window is open.
        (
            "2026-11-25T05:30Z", nil, "2026-11-26T06:29:59Z", "daily.2026-11-26T0530", [],
            "2026-11-27T05:30Z"
        ),
        (
            "2026-11-25T05:30Z", nil, "2026-11-26T06:30Z", nil, ["the run daily.2026-11-26T0530 was missed"],
            "2026-11-27T05:30Z"
        ),
        // After days, only the last run starts.
        (
            "2026-11-20T05:30Z", nil, "2026-11-26T06:00Z", "daily.2026-11-26T0530",
            ["5 runs up to daily.2026-11-25T0530 were missed"], "2026-11-27T05:30Z"
        ),
        (
            "2026-11-20T05:30Z", nil, "2026-11-26T12:00Z", nil,
            ["6 runs up to daily.2026-11-26T0530 were missed"], "2026-11-27T05:30Z"
        ),
        // A run that is due while the last run is running.
        (
            "2026-11-25T05:30Z", "daily.2026-11-25T0530", "2026-11-26T05:30Z", nil,
            ["the run daily.2026-11-26T0530 is skipped, because daily.2026-11-25T0530 is still running"],
            "2026-11-27T05:30Z"
        ),
        // The clock was set back.
        ("2026-11-26T05:30Z", nil, "2026-11-24T05:30Z", nil, [], "2026-11-27T05:30Z"),
    ]

    @Test(arguments: known) func `decides what to do`(
        handled: String, running: String?, now: String, start: String?, notices: [String], wakeAt: String
    ) throws {
        let calendar = try Self.calendar("30 5 * * *")
        let decision = calendar.decision(handledUntil: utc(handled), running: running, now: utc(now))
        #expect(decision.start?.id == start)
        #expect(decision.notices.map(\.description) == notices)
        #expect(decision.wakeAt == utc(wakeAt))
        // The same time needs no second decision.
        let second = calendar.decision(handledUntil: decision.handledUntil, running: running, now: utc(now))
        #expect(second.start == nil && second.notices.isEmpty && second.handledUntil == decision.handledUntil)
    }

    /// The expression, the zone, from when to when, and the runs.
    private static let nights: [(String, String, String, String, [String])] = [
        // Clocks are set forward from 02:00 to 03:00: two local times in the gap start one run.
        (
            "0,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-30T12:00Z",
            ["2026-03-29T0300", "2026-03-30T0200", "2026-03-30T0230"]
        ),
        // Clocks are set back from 03:00 to 02:00: the hour is shown twice, and its runs start once.
        (
            "30 1-3 * * *", "Europe/Berlin", "2026-10-24T12:00Z", "2026-10-25T12:00Z",
            ["2026-10-25T0130", "2026-10-25T0230", "2026-10-25T0330"]
        ),
        // The whole day was skipped.
        (
            "0 12 * * *", "Pacific/Apia", "2011-12-29T00:00Z", "2011-12-31T12:00Z",
            ["2011-12-29T1200", "2011-12-31T0000", "2011-12-31T1200"]
        ),
    ]

    @Test(arguments: nights) func `a change of the clocks runs each local time once`(
        cron: String, zone: String, from: String, to: String, runs: [String]
    ) throws {
        let calendar = try Self.calendar(cron, zone, minutes: 20)
        var (handled, now) = (utc(from), utc(from))
        var started: [String] = []
        while now < utc(to) {
            let decision = calendar.decision(handledUntil: handled, running: nil, now: now)
            if let run = decision.start { started.append(run.id) }
            #expect(decision.notices.isEmpty)
            handled = decision.handledUntil
            now = now.adding(milliseconds: 300_000)
        }
        #expect(started == runs.map { "daily." + $0 })
    }

    @Test(arguments: [
        ("Europe/Berlin", "2026-10-24"), ("Europe/Berlin", "2026-03-28"), ("America/New_York", "2026-10-30"),
        ("Australia/Lord_Howe", "2026-04-03"), ("UTC", "2026-01-01"),
    ]) func `each due run starts, is skipped, or is missed, however rarely a process looks`(
        zone: String, day: String
    ) throws {
        let calendar = try Self.calendar("*/7 0-4 * * *", zone, minutes: 11)
        let cron = try CronExpression("*/7 0-4 * * *")
        var random = SplitMix(seed: 17)
        for _ in 0..<5 {
            var (handled, now) = (utc(day), utc(day))
            var (started, other) = (Set<String>(), 0)
            while now < utc(day).adding(milliseconds: 3 * 86_400_000) {
                let running = random.chance(3) ? "x" : nil
                let decision = calendar.decision(handledUntil: handled, running: running, now: now)
                if let run = decision.start {
                    try BrokenInvariant.unless(started.insert(run.id).inserted, "\(run.id) started twice")
                    try BrokenInvariant.unless(
                        run.due <= now && now < run.closes && running == nil, "\(run) at \(now)")
                }
                for notice in decision.notices {
                    switch notice {
                    case .skipped: other += 1
                    case .missed(let count, _): other += count
                    }
                }
                (handled, now) = (
                    decision.handledUntil, now.adding(milliseconds: Int64(random.int(in: 1...1_500_000)))
                )
            }
            var (due, time) = (0, utc(day))
            while let next = cron.next(after: time, in: Zones[zone]), next <= handled {
                (due, time) = (due + 1, next)
            }
            try BrokenInvariant.unless(started.count + other == due, "\(started.count) + \(other) of \(due)")
        }
    }

    @Test func `many missed runs are counted up to a limit`() throws {
        let decision = try Self.calendar("* * * * *", minutes: 1).decision(
            handledUntil: utc("2020-01-01"), running: nil, now: utc("2026-11-26T05:30:30Z"))
        #expect(decision.start?.id == "daily.2026-11-26T0530")
        #expect(
            decision.notices.map(\.description)
                == ["at least 1,000 runs up to daily.2026-11-26T0529 were missed"])
    }

    @Test func `a long id and a wrong window are refused`() throws {
        let cron = try CronExpression("0 0 * * *")
        for (count, window) in [(49, 60_000), (48, 59_999), (48, Int64.max)] {
            #expect(throws: ScheduleError.self) {
                try RunCalendar(
                    campaign: String(repeating: "ä", count: count), cron: cron, zone: Zones["UTC"],
                    window: window)
            }
        }
        _ = try RunCalendar(
            campaign: String(repeating: "ä", count: 48), cron: cron, zone: Zones["UTC"], window: 60_000)
    }
}
