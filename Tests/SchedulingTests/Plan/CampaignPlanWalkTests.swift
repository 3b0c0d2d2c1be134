import PushModel
import RandomTesting
import Scheduling
import Testing

/// Random schedules and audiences. Each plan that is not refused must keep the rules of the schedule.
struct CampaignPlanWalkTests {
    private struct Case {
        var random: SplitMix
        let now: UTCTime
        let window: CampaignWindow?
        let rate: Double?
        let avoid: AvoidedMinutes
        let schedule: CampaignSchedule
        let audience: PlanAudience

        init(seed: UInt64) throws {
            var random = SplitMix(seed: seed)
            // Days on which clocks change, days around them, and other days.
            let days = ["2026-03-28", "2026-10-24", "2026-10-03", "2026-04-04", "2026-07-01", "2011-12-29"]
            now = utc(days[random.int(in: 0...days.count - 1)])
                .adding(milliseconds: Int64(random.int(in: 0...172_800_000)))
            func time() -> TimeOfDay {
                let minute = random.int(in: 0...287) * 5
                return TimeOfDay(
                    "\(CivilDate.padded(Int64(minute / 60), to: 2)):\(CivilDate.padded(Int64(minute % 60), to: 2))"
                )!
            }
            let (from, to) = (time(), time())
            let named = random.chance(3) ? CampaignWindow.Zone.named("Australia/Lord_Howe") : .device
            window =
                random.chance(6) || from == to ? nil : try CampaignWindow(from: from, to: to, zone: named)
            avoid = try AvoidedMinutes((0..<random.int(in: 0...3)).map { _ in random.int(in: 0...59) })
            let every = Int64(random.int(in: 10...90)) * 60_000
            let repetition =
                random.chance(3)
                ? CampaignSchedule.Repetition(every: every, max: random.int(in: 1...5)) : nil
            let spread: CampaignSchedule.Spread
            switch random.int(in: 0...2) {
            case 0 where window != nil || repetition != nil: spread = .evenly
            case 1: spread = .over(milliseconds: Int64(random.int(in: 1...10)) * 60_000)
            default: spread = .rate(Double(random.int(in: 1...3_000)) / 7)
            }
            if case .rate(let wanted) = spread { rate = wanted } else { rate = nil }
            var stages: [CampaignSchedule.Stage] = []
            if random.chance(3) {
                let wait = Int64(random.int(in: 0...20)) * 60_000
                stages = [
                    .init(share: 0.03, gate: .wait(milliseconds: wait)), .init(share: 1, gate: .resume),
                ]
            }
            var start = CampaignSchedule.Start.now
            if random.chance(4) {
                start = .at(now.adding(milliseconds: Int64(random.int(in: -9...9)) * 7_654_321))
            }
            if random.chance(4) { start = .on(CivilDate(dayNumber: now.seconds / 86_400 + 1)) }
            schedule = try CampaignSchedule(
                start: start, window: window, spread: spread, avoid: avoid, stages: stages,
                repetition: repetition, cohorts: random.int(in: 1...5))
            var zones: [String: Int] = [:]
            for zone in recordedZones where random.chance(2) {
                zones[zone.name] = random.chance(5) ? random.int(in: 1...9) : random.int(in: 1...200_000)
            }
            audience = PlanAudience(zones: zones, withoutZone: random.int(in: 0...1_000))
            self.random = random
        }
    }

    @Test func `every plan keeps the rules of its schedule`() throws {
        var planned = 0
        for seed in UInt64(1)...500 {
            let test = try Case(seed: seed)
            guard
                let plan = try? CampaignPlan(
                    test.audience, test.schedule, defaultZone: "Europe/Berlin", zones: { Zones.rules($0) },
                    now: test.now)
            else { continue }
            planned += 1
            try check(plan, test, "seed \(seed)")
        }
        #expect(planned > 150)
    }

    private func check(_ plan: CampaignPlan, _ test: Case, _ seed: String) throws {
        let most = test.schedule.repetition?.max ?? 1
        for (zone, rounds) in plan.rounds {
            let own = plan.rows.filter { ($0.zone ?? "") == zone }
            try BrokenInvariant.unless((1...most).contains(rounds), "\(seed): \(rounds) rounds in \(zone)")
            let isShared = zone.isEmpty || test.window?.zone != .device
            let devices =
                isShared
                ? test.audience.devices
                : (test.audience.zones[zone] ?? 0) + (zone == "Europe/Berlin" ? test.audience.withoutZone : 0)
            for round in 1...rounds {
                let pushes = own.filter { $0.round == round }.reduce(0) { $0 + $1.pushes }
                try BrokenInvariant.unless(
                    pushes == devices, "\(seed): \(pushes) pushes of \(devices) in round \(round) of \(zone)")
            }
        }
        for row in plan.rows {
            try BrokenInvariant.unless(row.start < row.end && row.start >= test.now, "\(seed): \(row)")
            // The clocks show a time of the window at the first and at the last push.
            guard let window = test.window, let zone = row.zone else { continue }
            for time in [row.start, row.end.adding(milliseconds: -1)] {
                let day = Zones[zone].localTime(at: time).date.dayNumber
                let isInside = (day - 1...day).contains {
                    window.times(on: CivilDate(dayNumber: $0), in: Zones[zone]).contains(time)
                }
                try BrokenInvariant.unless(isInside, "\(seed): \(row) is not in the window \(window)")
                let minute = Zones[zone].localTime(at: time).secondOfDay / 60 % 60
                try BrokenInvariant.unless(
                    !test.avoid.contains(Int(minute)), "\(seed): \(row) sends in minute \(minute)")
            }
        }
        try BrokenInvariant.unless(
            plan.rows.map(\.start) == plan.rows.map(\.start).sorted(), "\(seed): the rows are not in order")
        if let rate = test.rate {
            try BrokenInvariant.unless(plan.peak <= rate * 1.000_001, "\(seed): \(plan.peak) above \(rate)")
        }
        try checkGates(plan, test, seed)
        try checkRounds(plan, test, seed)
    }

    /// The first and the last device of each cohort wait at least the time between two rounds.
    private func checkRounds(_ plan: CampaignPlan, _ test: Case, _ seed: String) throws {
        // Avoided minutes and the rows of other zones may shorten the wait.
        guard let every = test.schedule.repetition?.every, test.avoid == .none,
            test.rate == nil || plan.rounds.count == 1
        else { return }
        for row in plan.rows {
            guard
                let next = plan.rows.first(where: {
                    $0.zone == row.zone && $0.cohort == row.cohort && $0.round == row.round + 1
                })
            else { continue }
            let waits = [
                next.start.milliseconds - row.start.milliseconds,
                next.end.milliseconds - row.end.milliseconds,
            ]
            // Times are rounded to milliseconds.
            try BrokenInvariant.unless(
                waits.allSatisfy { $0 >= every - 2 }, "\(seed): \(row), then \(next), not after \(every)")
        }
    }

    /// A stage begins after the wait of the stage before it, and a cohort ends before the next cohort begins.
    private func checkGates(_ plan: CampaignPlan, _ test: Case, _ seed: String) throws {
        guard case .wait(let wait)? = test.schedule.stages.first?.gate else { return }
        for zone in Set(plan.rows.map(\.zone)) {
            let rows = plan.rows.filter { $0.zone == zone && $0.round == 1 }
            guard let first = rows.filter({ $0.stage == 1 }).map(\.end).max(),
                let second = rows.filter({ $0.stage == 2 }).map(\.start).min()
            else { continue }
            // If a stage takes less than a millisecond, two rows may lie in the same millisecond.
            try BrokenInvariant.unless(
                second >= first.adding(milliseconds: wait - 1), "\(seed): \(rows) waits less than \(wait)")
        }
    }
}
