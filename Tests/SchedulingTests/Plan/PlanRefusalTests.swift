import PushModel
import Scheduling
import Testing

struct PlanRefusalTests {
    private static let minute: Int64 = 60_000

    private static func refusal(
        _ zones: [String: Int], _ schedule: CampaignSchedule, now: String = "2026-11-26T03:00Z",
        rateLimit: Double? = nil
    ) -> String? {
        do throws(PlanRefusal) {
            _ = try plan(zones, schedule, now: now, rateLimit: rateLimit)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(arguments: [
        (
            4_000_000, 300,
            "4,000,000 pushes at 300 a second need 3 h 42 min; the window 05:00–07:00 Europe/Berlin has 2 h"
        ),
        (
            2_160_001, 300,
            "2,160,001 pushes at 300 a second need 2 h 4 ms; the window 05:00–07:00 Europe/Berlin has 2 h"
        ),
        (
            5_000, 0.5,
            "5,000 pushes at 0.5 a second need 2 h 46 min; the window 05:00–07:00 Europe/Berlin has 2 h"
        ),
    ]) func `refuses what does not fit, with the arithmetic`(devices: Int, rate: Double, text: String) throws
    {
        let schedule = try CampaignSchedule(
            window: window("05:00", "07:00", "Europe/Berlin"), spread: .rate(rate))
        #expect(Self.refusal(["Asia/Tokyo": devices], schedule) == text)
        #expect(Self.refusal(["Asia/Tokyo": Int(7_200 * rate)], schedule) == nil)
    }

    @Test func `the numbers of a refusal are values`() throws {
        let schedule = try CampaignSchedule(
            window: window("05:00", "07:00", "Europe/Berlin"), spread: .rate(300),
            avoid: AvoidedMinutes([0, 30]))
        let refusal = #expect(throws: PlanRefusal.self) {
            try plan(["Asia/Tokyo": 4_000_000], schedule, now: "2026-11-26T03:00Z")
        }
        guard case .doesNotFit(let shortage) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(shortage.pushes == 4_000_000 && shortage.rate == 300 && shortage.waits == 0)
        #expect(shortage.needed == 13_333_334)
        #expect(shortage.inWindow == 116 * Self.minute && shortage.available == shortage.inWindow)
        #expect(shortage.window == "05:00–07:00 Europe/Berlin")
    }

    @Test func `names the time that other zones need`() throws {
        let schedule = try CampaignSchedule(window: window("05:00", "07:00"), spread: .rate(1))
        #expect(
            Self.refusal(["Europe/Berlin": 7_200, "Europe/Dublin": 3_601], schedule)
                == "3,601 pushes at 1 a second need 1 h 1 s; the window 05:00–07:00 Europe/Dublin has 1 h left of 2 h, because windows that end earlier need the rest"
        )
    }

    @Test func `names the waits of stages`() throws {
        let stages = [
            CampaignSchedule.Stage(share: 0.01, gate: .wait(milliseconds: 90 * Self.minute)),
            CampaignSchedule.Stage(share: 1, gate: .resume),
        ]
        let rate = try CampaignSchedule(window: window("05:00", "07:00"), spread: .rate(1), stages: stages)
        #expect(
            Self.refusal(["Europe/Berlin": 3_600], rate)
                == "3,600 pushes at 1 a second need 1 h and the waits between stages 1 h 30 min; the window 05:00–07:00 Europe/Berlin has 2 h"
        )
        #expect(Self.refusal(["Europe/Berlin": 1_800], rate) == nil)
        let evenly = try CampaignSchedule(window: window("05:00", "06:30"), spread: .evenly, stages: stages)
        #expect(
            Self.refusal(["Europe/Berlin": 10], evenly)
                == "the waits between stages need 1 h 30 min; the window 05:00–06:30 Europe/Berlin has 1 h 30 min"
        )
    }

    @Test func `refuses a date whose window is over`() throws {
        let schedule = try CampaignSchedule(
            start: date("2026-11-26"), window: window("05:00", "07:00"), spread: .evenly)
        #expect(
            Self.refusal(["Europe/Berlin": 10, "Asia/Tokyo": 1_200], schedule)
                == "the window 05:00–07:00 Asia/Tokyo of 2026-11-26 is over; 1,200 devices would get nothing")
        let day = try CampaignSchedule(start: date("2026-11-25"), spread: .rate(1))
        #expect(
            Self.refusal(["Asia/Tokyo": 10], day)
                == "the window 00:00–24:00 Europe/Berlin of 2026-11-25 is over; 10 devices would get nothing")
    }

    @Test func `refuses a window without time`() throws {
        let avoid = try CampaignSchedule(
            window: window("05:00", "05:01"), spread: .evenly, avoid: AvoidedMinutes([0]))
        #expect(
            Self.refusal(["Europe/Berlin": 10], avoid)
                == "the window 05:00–05:01 Europe/Berlin has no time to send; 10 devices would get nothing")
        let skipped = try CampaignSchedule(
            start: date("2026-03-29"), window: window("02:10", "02:50"), spread: .evenly)
        #expect(
            Self.refusal(["Europe/Berlin": 10], skipped, now: "2026-03-01")
                == "the window 02:10–02:50 Europe/Berlin has no time to send; 10 devices would get nothing")
    }

    @Test func `refuses a rate above the app's limit`() throws {
        let schedule = try CampaignSchedule(window: window("05:00", "07:00"), spread: .evenly)
        #expect(
            Self.refusal(["Europe/Berlin": 4_000_000], schedule, rateLimit: 300)
                == "the plan needs 556 pushes a second; the limit is 300")
        #expect(Self.refusal(["Europe/Berlin": 7_200 * 300], schedule, rateLimit: 300) == nil)
        let rate = try CampaignSchedule(window: window("05:00", "07:00"), spread: .rate(1_000))
        #expect(Self.refusal(["Europe/Berlin": 7_200 * 300], rate, rateLimit: 300) == nil)
        #expect(
            Self.refusal(["Europe/Berlin": 4_000_000], rate, rateLimit: 300)
                == "4,000,000 pushes at 300 a second need 3 h 42 min; the window 05:00–07:00 Europe/Berlin has 2 h"
        )
    }

    @Test func `refuses rounds that are longer than their distance`() throws {
        let repetition = CampaignSchedule.Repetition(every: 25 * Self.minute, max: 4)
        let schedule = try CampaignSchedule(
            window: window("05:00", "07:00"), spread: .rate(300), repetition: repetition)
        #expect(
            Self.refusal(["Europe/Berlin": 600_000], schedule)
                == "600,000 pushes at 300 a second need 33 min 20 s; rounds start every 25 min")
    }

    @Test func `refuses other plans`() throws {
        let named = try CampaignSchedule(window: window("05:00", "07:00", "Mars/Olympus"), spread: .evenly)
        #expect(Self.refusal(["Europe/Berlin": 10], named) == "there is no time zone Mars/Olympus")
        let long = try CampaignSchedule(
            window: window("05:00", "07:00"), spread: .over(milliseconds: 180 * Self.minute))
        #expect(
            Self.refusal(["Europe/Berlin": 10], long)
                == "the spread needs 3 h; the window 05:00–07:00 Europe/Berlin has 2 h")
        let slow = try CampaignSchedule(spread: .rate(1))
        #expect(
            Self.refusal(["Europe/Berlin": 4_000_000], slow)
                == "4,000,000 pushes at 1 a second need 46 days 7 h; a campaign without a window has at most 31 days"
        )
    }

    @Test func `numbers beyond all bounds are refused or planned`() throws {
        let stages = [
            CampaignSchedule.Stage(share: 0.5, gate: .wait(milliseconds: 60_000)),
            CampaignSchedule.Stage(share: 1, gate: .resume),
        ]
        for rate in [Double.leastNonzeroMagnitude, 1e-9, CampaignSchedule.greatestRate] {
            for count in [1, 1 << 48, Int.max] {
                let schedule = try CampaignSchedule(
                    window: window("05:00", "07:00"), spread: .rate(rate), stages: stages, cohorts: 3)
                let isPlanned = count == 1 && rate > 1
                #expect((Self.refusal(["Europe/Berlin": count], schedule) == nil) == isPlanned)
            }
        }
        let schedule = try CampaignSchedule(
            window: window("05:00", "07:00"), spread: .evenly, stages: stages, cohorts: 64)
        let audience = ["Europe/Berlin": Int.max, "Asia/Tokyo": Int.max]
        let plan = try plan(audience, withoutZone: .max, schedule, now: "2026-11-26T03:00Z")
        #expect(plan.devices == .max && plan.rows.count == 256)
        #expect(plan.rows.filter { $0.zone == "Asia/Tokyo" }.reduce(0) { $0 + $1.pushes } == .max)
    }

    @Test func `limits the rows of a plan`() throws {
        let repetition = CampaignSchedule.Repetition(every: 60_000, max: 24)
        let schedule = try CampaignSchedule(
            window: window("05:00", "07:00"), spread: .evenly, repetition: repetition, cohorts: 64)
        let zones = Dictionary(uniqueKeysWithValues: (0..<33).map { ("Zone/\($0)", 100) })
        let refusal = #expect(throws: PlanRefusal.self) {
            try CampaignPlan(
                PlanAudience(zones: zones), schedule, defaultZone: "UTC", zones: { _ in Zones["UTC"] },
                now: utc("2026-11-26"))
        }
        #expect(
            refusal?.description
                == "zones, rounds, stages and cohorts make 50,688 rows; a plan has at most 50,000")
    }

    private static let unreadable: [(@Sendable () throws -> CampaignSchedule, String)] = [
        (
            { try CampaignSchedule(spread: .evenly) },
            "spread: without a window, a duration such as 45m or a rate is needed"
        ),
        (
            { try CampaignSchedule(spread: .rate(0)) },
            "rate: a number above 0 and up to 10,000,000 pushes a second is needed"
        ),
        (
            { try CampaignSchedule(spread: .rate(.nan)) },
            "rate: a number above 0 and up to 10,000,000 pushes a second is needed"
        ),
        (
            { try CampaignSchedule(spread: .rate(.infinity)) },
            "rate: a number above 0 and up to 10,000,000 pushes a second is needed"
        ),
        (
            { try CampaignSchedule(spread: .over(milliseconds: 999)) },
            "spread: the duration must be from 1 second to 31 days"
        ),
        (
            { try CampaignSchedule(spread: .over(milliseconds: .max)) },
            "spread: the duration must be from 1 second to 31 days"
        ),
        (
            {
                try CampaignSchedule(
                    spread: .over(milliseconds: 1_800_000), repetition: .init(every: 1_500_000, max: 2))
            },
            "spread: 30 min is longer than the 25 min between two rounds"
        ),
        (
            { try CampaignSchedule(spread: .rate(1), repetition: .init(every: 59_999, max: 2)) },
            "repeat: \"every\" must be at least 1 minute and at most 31 days"
        ),
        (
            { try CampaignSchedule(spread: .rate(1), repetition: .init(every: 60_000, max: 0)) },
            "repeat: \"max\" must be from 1 to 24"
        ),
        (
            { try CampaignSchedule(spread: .rate(1), repetition: .init(every: 60_000, max: 25)) },
            "repeat: \"max\" must be from 1 to 24"
        ),
        ({ try CampaignSchedule(spread: .rate(1), cohorts: 0) }, "cohorts: a number from 1 to 64 is needed"),
        ({ try CampaignSchedule(spread: .rate(1), cohorts: 65) }, "cohorts: a number from 1 to 64 is needed"),
        (
            { try CampaignSchedule(spread: .rate(1), stages: [.init(share: 0.5, gate: .resume)]) },
            "stages: the last share must be 100 %"
        ),
        (
            {
                try CampaignSchedule(
                    spread: .rate(1),
                    stages: [.init(share: 0.5, gate: .resume), .init(share: 0.5, gate: .resume)])
            },
            "stages: each share must be larger than the share before it, above 0 and at most 100 %"
        ),
        (
            { try CampaignSchedule(spread: .rate(1), stages: [.init(share: .nan, gate: .resume)]) },
            "stages: each share must be larger than the share before it, above 0 and at most 100 %"
        ),
        (
            {
                try CampaignSchedule(
                    spread: .rate(1),
                    stages: [
                        .init(share: 0.5, gate: .wait(milliseconds: -1)), .init(share: 1, gate: .resume),
                    ])
            },
            "stages: the wait of a stage must be from 0 to 31 days"
        ),
        (
            {
                try CampaignSchedule(
                    spread: .rate(1), stages: (1...11).map { .init(share: Double($0) / 11, gate: .resume) })
            },
            "stages: there can be at most 10 stages"
        ),
    ]

    @Test(arguments: unreadable) func `refuses a schedule that makes no sense`(
        schedule: @Sendable () throws -> CampaignSchedule, text: String
    ) {
        let error = #expect(throws: ScheduleError.self) { try schedule() }
        #expect(error?.description == text)
    }
}
