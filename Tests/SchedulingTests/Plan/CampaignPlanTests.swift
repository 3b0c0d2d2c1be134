import PushModel
import Scheduling
import Testing

/// Plans a campaign with the zones of the tests. Devices without a zone are in Berlin.
func plan(
    _ zones: [String: Int], withoutZone: Int = 0, _ schedule: CampaignSchedule, now: String,
    rateLimit: Double? = nil
) throws(PlanRefusal) -> CampaignPlan {
    try CampaignPlan(
        PlanAudience(zones: zones, withoutZone: withoutZone), schedule, defaultZone: "Europe/Berlin",
        zones: { Zones.rules($0) }, now: utc(now), rateLimit: rateLimit)
}

func window(_ from: String, _ to: String, _ zone: String? = nil) throws -> CampaignWindow {
    try CampaignWindow(
        from: TimeOfDay(from)!, to: TimeOfDay(to)!, zone: zone.map { .named($0) } ?? .device)
}

func date(_ text: String) -> CampaignSchedule.Start { .on(CivilDate(dayNumber: utc(text).seconds / 86_400)) }

struct CampaignPlanTests {
    private static let minute: Int64 = 60_000

    /// The rows as text: zone, round, stage, cohort, start and end in UTC, pushes.
    private static func text(_ plan: CampaignPlan) -> [String] {
        plan.rows.map { row in
            let (start, end) = (LocalTime(seconds: row.start.seconds), LocalTime(seconds: row.end.seconds))
            let stage = row.stage.map { " stage \($0)" } ?? ""
            return
                "\(row.zone ?? "all") round \(row.round)\(stage) cohort \(row.cohort): \(start) to \(end), \(row.pushes)"
        }
    }

    @Test func `spreads the pushes evenly over a window of one zone`() throws {
        let schedule = try CampaignSchedule(
            window: window("05:00", "07:00", "Europe/Berlin"), spread: .evenly)
        let plan = try plan(
            ["Asia/Tokyo": 7_000_000], withoutZone: 200_000, schedule, now: "2026-11-26T12:00Z")
        #expect(
            Self.text(plan) == [
                "Europe/Berlin round 1 cohort 0: 2026-11-27 04:00 to 2026-11-27 06:00, 7200000"
            ])
        #expect(plan.peak == 1_000 && plan.devices == 7_200_000 && plan.withoutZone == 200_000)
        #expect(plan.firstPush == utc("2026-11-27T04:00Z") && plan.lastPush == utc("2026-11-27T06:00Z"))
    }

    @Test func `waits until the quiet hours of each zone end`() throws {
        let quiet = try QuietHours(from: TimeOfDay("22:00")!, to: TimeOfDay("07:00")!)
        let zones = ["Asia/Tokyo": 900, "America/New_York": 900]
        // It is 20:45 in Berlin, 04:45 in Tokyo and 14:45 in New York.
        let now = "2026-11-26T19:45Z"
        let soon = try plan(
            zones, withoutZone: 900,
            CampaignSchedule(spread: .over(milliseconds: 90 * Self.minute), quiet: quiet), now: now)
        #expect(
            Self.text(soon) == [
                "America/New_York round 1 cohort 0: 2026-11-26 19:45 to 2026-11-26 21:15, 900",
                "Europe/Berlin round 1 cohort 0: 2026-11-26 19:45 to 2026-11-27 06:15, 900",
                "Asia/Tokyo round 1 cohort 0: 2026-11-26 22:00 to 2026-11-26 23:30, 900",
            ])
        #expect(soon.peak < 0.51, "no zone hurries because of its quiet hours")
        // In Tokyo, the whole window is quiet. Its devices get nothing.
        let berlin = try CampaignSchedule(
            window: window("21:00", "23:00", "Europe/Berlin"), spread: .evenly, quiet: quiet)
        #expect(
            Self.text(try plan(zones, withoutZone: 900, berlin, now: now)) == [
                "America/New_York round 1 cohort 0: 2026-11-26 20:00 to 2026-11-26 22:00, 900",
                "Europe/Berlin round 1 cohort 0: 2026-11-26 20:00 to 2026-11-26 21:00, 900",
            ])
        let quietInTokyo = try plan(zones, withoutZone: 900, berlin, now: now)
        #expect(quietInTokyo.quietZones == ["Asia/Tokyo": 900] && quietInTokyo.delayedZones.isEmpty)
        #expect(soon.quietZones.isEmpty && soon.delayedZones.isEmpty)
        #expect(throws: PlanRefusal.self) { try plan(["Asia/Tokyo": 9], berlin, now: now) }
        // The rest of this day's window is quiet, so the next day's window is used.
        let own = try CampaignSchedule(window: window("06:00", "08:00"), spread: .evenly, quiet: quiet)
        #expect(
            Self.text(try plan(["Asia/Tokyo": 9], own, now: now)) == [
                "Asia/Tokyo round 1 cohort 0: 2026-11-26 22:00 to 2026-11-26 23:00, 9"
            ])
        // It is 22:30 in Tokyo and 14:30 in Berlin.
        let evening = try CampaignSchedule(window: window("21:00", "23:00"), spread: .evenly, quiet: quiet)
        let late = try plan(
            ["Asia/Tokyo": 9, "Europe/Berlin": 7], evening, now: "2026-11-26T13:30Z")
        #expect(late.delayedZones == ["Asia/Tokyo": 9] && late.quietZones.isEmpty)
        #expect(late.rows.first { $0.zone == "Asia/Tokyo" }?.start == utc("2026-11-27T12:00Z"))
        let night = try CampaignSchedule(window: window("23:00", "06:00"), spread: .evenly, quiet: quiet)
        #expect(throws: PlanRefusal.self) { try plan(zones, night, now: now) }
    }

    @Test func `sends to each zone in its own local time`() throws {
        let schedule = try CampaignSchedule(window: window("05:00", "07:00"), spread: .evenly)
        let zones = [
            "Asia/Tokyo": 7_200, "America/New_York": 14_400, "Asia/Kolkata": 3_600, "Mars/Olympus": 5_000,
        ]
        let plan = try plan(zones, withoutZone: 2_200, schedule, now: "2026-11-26T12:00Z")
        #expect(
            Self.text(plan) == [
                "Asia/Tokyo round 1 cohort 0: 2026-11-26 20:00 to 2026-11-26 22:00, 7200",
                "Asia/Kolkata round 1 cohort 0: 2026-11-26 23:30 to 2026-11-27 01:30, 3600",
                "Europe/Berlin round 1 cohort 0: 2026-11-27 04:00 to 2026-11-27 06:00, 7200",
                "America/New_York round 1 cohort 0: 2026-11-27 10:00 to 2026-11-27 12:00, 14400",
            ])
        #expect(plan.withoutZone == 7_200)
        #expect(plan.peak == 2)
    }

    @Test func `the peak adds the rates of windows that overlap`() throws {
        let schedule = try CampaignSchedule(window: window("05:00", "07:00"), spread: .evenly)
        let plan = try plan(
            ["Europe/Berlin": 7_200, "Europe/Dublin": 14_400, "Asia/Tokyo": 14_400], schedule,
            now: "2026-11-26T12:00Z")
        #expect(plan.peak == 3)
    }

    /// The start, the time of the plan, and the start and end of the first row in Berlin.
    private static let starts: [(CampaignSchedule.Start, String, String, String)] = [
        // If today's window is over, the plan uses the next day's window. If the window is open, the plan uses the rest of it.
        (.now, "2026-11-26T03:00Z", "2026-11-26T04:00Z", "2026-11-26T06:00Z"),
        (.now, "2026-11-26T04:30Z", "2026-11-26T04:30Z", "2026-11-26T06:00Z"),
        (.now, "2026-11-26T06:00Z", "2026-11-27T04:00Z", "2026-11-27T06:00Z"),
        (.at(utc("2026-11-30T12:00Z")), "2026-11-26T12:00Z", "2026-12-01T04:00Z", "2026-12-01T06:00Z"),
        (.at(utc("2026-11-30T05:00Z")), "2026-11-26T12:00Z", "2026-11-30T05:00Z", "2026-11-30T06:00Z"),
        // A time in the past means now.
        (.at(utc("2026-11-20T05:00Z")), "2026-11-26T05:30Z", "2026-11-26T05:30Z", "2026-11-26T06:00Z"),
        (date("2026-11-30"), "2026-11-26T12:00Z", "2026-11-30T04:00Z", "2026-11-30T06:00Z"),
        (date("2026-11-26"), "2026-11-26T05:30Z", "2026-11-26T05:30Z", "2026-11-26T06:00Z"),
        // The days on which Berlin's clocks change.
        (date("2026-03-29"), "2026-03-01", "2026-03-29T03:00Z", "2026-03-29T05:00Z"),
        (date("2026-10-25"), "2026-03-01", "2026-10-25T04:00Z", "2026-10-25T06:00Z"),
    ]

    @Test(arguments: starts) func `chooses the window`(
        start: CampaignSchedule.Start, now: String, first: String, last: String
    ) throws {
        let schedule = try CampaignSchedule(start: start, window: window("05:00", "07:00"), spread: .evenly)
        let plan = try plan(["Europe/Berlin": 100], schedule, now: now)
        #expect(plan.firstPush == utc(first) && plan.lastPush == utc(last))
    }

    @Test func `a window across midnight that began yesterday is open`() throws {
        let schedule = try CampaignSchedule(window: window("22:00", "06:00"), spread: .evenly)
        let plan = try plan(["Europe/Berlin": 100], schedule, now: "2026-11-26T00:30Z")
        #expect(plan.firstPush == utc("2026-11-26T00:30Z") && plan.lastPush == utc("2026-11-26T05:00Z"))
    }

    @Test func `goes to the next day if only avoided minutes are left`() throws {
        let schedule = try CampaignSchedule(
            window: window("05:00", "07:01"), spread: .evenly, avoid: AvoidedMinutes([0]))
        let plan = try plan(["Europe/Berlin": 100], schedule, now: "2026-11-26T06:00Z")
        #expect(plan.firstPush == utc("2026-11-27T04:01Z") && plan.lastPush == utc("2026-11-27T06:00Z"))
    }

    @Test func `a rate ends early, and windows that end earlier come first`() throws {
        let schedule = try CampaignSchedule(window: window("05:00", "07:00"), spread: .rate(10))
        let zones = ["Europe/Dublin": 36_000, "Europe/Berlin": 54_000]
        let plan = try plan(zones, schedule, now: "2026-11-26T12:00Z")
        #expect(
            Self.text(plan) == [
                "Europe/Berlin round 1 cohort 0: 2026-11-27 04:00 to 2026-11-27 05:30, 54000",
                "Europe/Dublin round 1 cohort 0: 2026-11-27 05:30 to 2026-11-27 06:30, 36000",
            ])
        #expect(plan.peak == 10)
    }

    @Test func `a zone with a long window makes room for a zone with a short rest`() throws {
        // The windows of both zones are open, and New York's window ends six hours after Berlin's window.
        let schedule = try CampaignSchedule(window: window("05:00", "14:00"), spread: .rate(1))
        let plan = try plan(
            ["Europe/Berlin": 3_600, "America/New_York": 10_800], schedule, now: "2026-11-26T11:00Z")
        #expect(
            Self.text(plan) == [
                "Europe/Berlin round 1 cohort 0: 2026-11-26 11:00 to 2026-11-26 12:00, 3600",
                "America/New_York round 1 cohort 0: 2026-11-26 12:00 to 2026-11-26 15:00, 10800",
            ])
    }

    @Test func `avoided minutes interrupt a row`() throws {
        let schedule = try CampaignSchedule(
            window: window("05:00", "07:00"), spread: .rate(1), avoid: AvoidedMinutes([0, 30]))
        let plan = try plan(["Europe/Berlin": 3_600], schedule, now: "2026-11-26T03:00Z")
        // 60 minutes of sending, and the minutes 05:00, 05:30 and 06:00.
        #expect(
            Self.text(plan) == ["Europe/Berlin round 1 cohort 0: 2026-11-26 04:01 to 2026-11-26 05:03, 3600"])
    }

    @Test func `works without a window`() throws {
        let rate = try CampaignSchedule(spread: .rate(300))
        let first = try plan(["Asia/Tokyo": 4_000_000], rate, now: "2026-11-26T03:00Z")
        #expect(Self.text(first) == ["all round 1 cohort 0: 2026-11-26 03:00 to 2026-11-26 06:42, 4000000"])
        let spread = try CampaignSchedule(
            start: date("2026-11-27"), spread: .over(milliseconds: 45 * Self.minute))
        let second = try plan(["Asia/Tokyo": 2_700], spread, now: "2026-11-26T03:00Z")
        #expect(Self.text(second) == ["all round 1 cohort 0: 2026-11-26 23:00 to 2026-11-26 23:45, 2700"])
        #expect(second.peak == 1)
    }

    @Test func `an empty audience is a plan without rows`() throws {
        let schedule = try CampaignSchedule(window: window("05:00", "07:00"), spread: .evenly)
        let plan = try plan(["Europe/Berlin": 0], schedule, now: "2026-11-26T12:00Z")
        #expect(plan.rows.isEmpty && plan.peak == 0 && plan.firstPush == nil && plan.lastPush == nil)
    }

    @Test func `cohorts divide a round in time`() throws {
        let schedule = try CampaignSchedule(window: window("05:00", "07:00"), spread: .evenly, cohorts: 4)
        let plan = try plan(["Europe/Berlin": 7_201], schedule, now: "2026-11-26T03:00Z")
        #expect(plan.rows.map(\.pushes) == [1_800, 1_800, 1_800, 1_801])
        #expect(plan.rows.map(\.cohort) == [0, 1, 2, 3])
        #expect(zip(plan.rows, plan.rows.dropFirst()).allSatisfy { $0.end == $1.start })
        #expect(plan.lastPush == utc("2026-11-26T06:00Z"))
    }

    @Test func `stages wait for the publisher`() throws {
        let stages = [
            CampaignSchedule.Stage(share: 0.01, gate: .wait(milliseconds: 15 * Self.minute)),
            CampaignSchedule.Stage(share: 0.1, gate: .wait(milliseconds: 5 * Self.minute)),
            CampaignSchedule.Stage(share: 1, gate: .resume),
        ]
        let schedule = try CampaignSchedule(window: window("05:00", "07:00"), spread: .evenly, stages: stages)
        let plan = try plan(["Europe/Berlin": 6_000], schedule, now: "2026-11-26T03:00Z")
        // 100 minutes of sending and 20 minutes of waits: one push a second.
        #expect(
            Self.text(plan) == [
                "Europe/Berlin round 1 stage 1 cohort 0: 2026-11-26 04:00 to 2026-11-26 04:01, 60",
                "Europe/Berlin round 1 stage 2 cohort 0: 2026-11-26 04:16 to 2026-11-26 04:25, 540",
                "Europe/Berlin round 1 stage 3 cohort 0: 2026-11-26 04:30 to 2026-11-26 06:00, 5400",
            ])
        #expect(plan.peak == 1)
    }

    @Test func `a stage of less than a millisecond has a row`() throws {
        let stages = [
            CampaignSchedule.Stage(share: 0.4, gate: .resume),
            CampaignSchedule.Stage(share: 1, gate: .resume),
        ]
        let schedule = try CampaignSchedule(spread: .rate(1e7), stages: stages, cohorts: 2)
        let plan = try plan(["Europe/Berlin": 3], schedule, now: "2026-11-26T03:00Z")
        #expect(plan.rows.map(\.stage) == [1, 2, 2] && plan.rows.map(\.pushes) == [1, 1, 1])
    }

    @Test func `rounds end with the window`() throws {
        let repetition = CampaignSchedule.Repetition(every: 25 * Self.minute, max: 4)
        let schedule = try CampaignSchedule(
            window: window("05:00", "06:30"), spread: .evenly, repetition: repetition)
        let plan = try plan(["Europe/Berlin": 1_500], schedule, now: "2026-11-26T03:00Z")
        #expect(
            Self.text(plan) == [
                "Europe/Berlin round 1 cohort 0: 2026-11-26 04:00 to 2026-11-26 04:25, 1500",
                "Europe/Berlin round 2 cohort 0: 2026-11-26 04:25 to 2026-11-26 04:50, 1500",
                "Europe/Berlin round 3 cohort 0: 2026-11-26 04:50 to 2026-11-26 05:15, 1500",
            ])
        #expect(plan.rounds == ["Europe/Berlin": 3] && plan.peak == 1)
    }

    @Test func `a short round waits for the next, and stages delay the next round`() throws {
        let repetition = CampaignSchedule.Repetition(every: 25 * Self.minute, max: 4)
        let stages = [
            CampaignSchedule.Stage(share: 0.1, gate: .wait(milliseconds: 10 * Self.minute)),
            CampaignSchedule.Stage(share: 1, gate: .resume),
        ]
        let schedule = try CampaignSchedule(
            window: window("05:00", "06:30"), spread: .rate(1), stages: stages, repetition: repetition)
        let plan = try plan(["Europe/Berlin": 600], schedule, now: "2026-11-26T03:00Z")
        // The first devices of the second stage get their push at 04:11, so their next push is at 04:36.
        #expect(
            Self.text(plan) == [
                "Europe/Berlin round 1 stage 1 cohort 0: 2026-11-26 04:00 to 2026-11-26 04:01, 60",
                "Europe/Berlin round 1 stage 2 cohort 0: 2026-11-26 04:11 to 2026-11-26 04:20, 540",
                "Europe/Berlin round 2 cohort 0: 2026-11-26 04:36 to 2026-11-26 04:46, 600",
                "Europe/Berlin round 3 cohort 0: 2026-11-26 05:01 to 2026-11-26 05:11, 600",
            ])
    }
}
