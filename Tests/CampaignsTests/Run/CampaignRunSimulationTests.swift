import Campaigns
import PushModel
import RandomTesting
import Scheduling
import Segments
import Testing

/// Plays campaigns with fake devices and clocks: pauses, takeovers, lost steps, and devices that change.
struct CampaignRunSimulationTests {
    @Test(arguments: UInt64(1)...40)
    func `every device gets each round once, in its window and far enough apart`(seed: UInt64) throws {
        var simulation = try CampaignSimulation(seed: seed, isDisturbed: seed % 4 != 0)
        try simulation.play()
        try simulation.check()
    }

    @Test(arguments: UInt64(1)...30)
    func `no device gets a push in its quiet hours, and the pushes follow after them`(seed: UInt64) throws {
        var simulation = try CampaignSimulation(seed: seed, isDisturbed: seed % 3 != 0, isQuiet: true)
        try simulation.play()
        try simulation.check()
    }
}

/// One simulated campaign.
struct CampaignSimulation {
    private var random: SplitMix
    private let isDisturbed: Bool
    private let campaign: Campaign
    private let start: UTCTime
    private var audience: FakeAudience
    private let zones: [String]
    private var run: CampaignStateMachine
    private var stored: CampaignProgress?
    private var counts = CampaignCounts()
    private var time: UTCTime
    private var instant = ContinuousClock().now
    private var released = 0
    private var paused: Int64 = 0
    /// The pushes of each second of the monotonic clock.
    private var perSecond: [Int64: Int] = [:]
    private let rate: Double?
    private let every: Int64?

    var description: String { String(decoding: campaign.definition, as: UTF8.self) }

    /// - Parameter isQuiet: whether the devices have quiet hours, which begin in the window if there is one.
    init(seed: UInt64, isDisturbed: Bool, isQuiet: Bool = false) throws {
        random = SplitMix(seed: seed)
        self.isDisturbed = isDisturbed
        start = utc("2026-07-01T00:00:00Z").adding(milliseconds: Int64(random.int(in: 0...86_400_000)))
        let all = ["Asia/Tokyo", "Europe/Berlin", "Asia/Kolkata", "UTC"]
        zones = Array(all.prefix(random.int(in: 1...4)))
        let definition = Self.definition(&random, isQuiet: isQuiet)
        (rate, every) = (definition.rate, definition.every.map { Int64($0) * 60_000 })
        campaign = try CampaignTests.parse(definition.text)
        audience = FakeAudience(random.int(in: 1...900), zones: zones + ["Mars/Olympus"], using: &random)
        run = try CampaignStateMachine(
            campaign, id: "c", start: start, names: zones + ["Mars/Olympus"], zones: TestZones.rules)
        time = start
    }

    private static func definition(
        _ random: inout SplitMix, isQuiet: Bool
    ) -> (text: String, rate: Double?, every: Int?) {
        var fields = ["\"segment\":\"all\"", "\"payload\":{\"aps\":{\"alert\":\"Hi\"}}"]
        let hour = random.int(in: 0...23)
        let hasWindow = !random.chance(4)
        if hasWindow {
            let from = CivilDate.padded(Int64(hour), to: 2)
            let to = CivilDate.padded(Int64(hour + 1), to: 2)
            let zone = random.chance(4) ? "Asia/Tokyo" : "device"
            fields.append("\"window\":{\"from\":\"\(from):00\",\"to\":\"\(to):00\",\"zone\":\"\(zone)\"}")
        }
        if isQuiet {
            let from = CivilDate.padded(Int64(hour), to: 2)
            let to = CivilDate.padded(Int64((hour + 9) % 24), to: 2)
            fields.append("\"quiet\":{\"from\":\"\(from):40\",\"to\":\"\(to):10\"}")
        }
        var (rate, every): (Double?, Int?)
        if random.chance(2) { every = random.int(in: 8...20) }
        switch random.int(in: 0...2) {
        case 0 where hasWindow || every != nil: fields.append("\"spread\":\"evenly\"")
        case 1: fields.append("\"spread\":\"\(random.int(in: 2...8))m\"")
        default:
            rate = Double(random.int(in: 4...40))
            fields.append("\"rate\":\(rate!)")
        }
        if let every {
            fields.append(
                "\"repeat\":{\"every\":\"\(every)m\",\"until\":\"done\",\"max\":\(random.int(in: 1...4))}")
            if random.chance(2) { fields.append("\"fallback\":{\"payload\":{\"aps\":{\"alert\":\"Last\"}}}") }
        }
        if random.chance(2) { fields.append("\"cohorts\":\(random.int(in: 2...6))") }
        if random.chance(3) {
            fields.append("\"avoid\":[\(random.int(in: 0...29)),\(random.int(in: 30...59))]")
        }
        if random.chance(3) {
            let wait = random.chance(2) ? "resume" : "\(random.int(in: 1...5))m"
            fields.append("\"stages\":[{\"share\":\"5 %\",\"wait\":\"\(wait)\"},\"30 %\",\"100 %\"]")
        }
        return ("{" + fields.joined(separator: ",") + "}", rate, every)
    }

    // MARK: Play

    mutating func play() throws {
        var actions = 0
        while true {
            actions += 1
            try BrokenInvariant.unless(actions < 300_000, "the campaign does not end")
            if isDisturbed, random.chance(400) { try disturb() }
            if let remaining = run.remaining(at: time, released: released) {
                try BrokenInvariant.unless(
                    (0...CampaignSchedule.longest + 5 * 86_400_000).contains(remaining),
                    "the remaining time is longer than any window")
            }
            let action = run.next(at: time, instant, released: released)
            switch action {
            case .count(let requests):
                for request in requests {
                    let count = audience.count(
                        run.groups[request.group], round: request.round, run.cells(ofRound: request.round))
                    run.counted(count, of: request.group, at: time)
                }
                advance(by: Int64(random.int(in: 0...300)))
            case .send(let send): try step(send)
            case .store: store(run)
            case .wait(let until):
                try BrokenInvariant.unless(until > time, "the campaign waits until the past")
                // Resume each stage after about three minutes.
                if campaign.schedule.stages.contains(where: { $0.gate == .resume }),
                    until.milliseconds - time.milliseconds > 180_000
                {
                    advance(by: 180_000)
                    released = min(released + 1, 2)
                } else {
                    advance(by: until.milliseconds - time.milliseconds + Int64(random.int(in: 0...20)))
                }
            case .finished:
                store(run)
                return
            }
        }
    }

    private mutating func advance(by milliseconds: Int64) {
        time = time.adding(milliseconds: milliseconds)
        instant += .milliseconds(milliseconds)
    }

    private mutating func step(_ send: CampaignSend) throws {
        let choice = audience.selection(
            send.chunk, run.groups[send.group], round: send.round, run.cells(ofRound: send.round)
        ).choose(send.cell, from: send.ordinals.lowerBound, to: send.ordinals.upperBound, most: send.most)
        var copy = run
        let unsendable = choice.ordinals.isEmpty ? 0 : random.int(in: 0...1) * random.int(in: 0...1)
        copy.sent(
            send,
            CampaignSent(
                accepted: choice.ordinals.count - unsendable, unsendable: unsendable, next: choice.next,
                isExhausted: choice.isExhausted), at: time)
        // A step that is lost has no effect.
        if isDisturbed, random.chance(50) {
            advance(by: Int64(random.int(in: 0...2_000)))
            return
        }
        let isLast = send.isFallback
        try BrokenInvariant.unless(
            !isLast || campaign.content.fallback != nil, "a fallback that is not defined")
        try audience.store(choice.ordinals, of: send.chunk, round: send.round, at: time)
        perSecond[time.milliseconds / 1000, default: 0] += choice.ordinals.count - unsendable
        store(copy)
        advance(by: Int64(random.int(in: 1...8)))
    }

    private mutating func store(_ next: CampaignStateMachine) {
        run = next
        counts.add(run.unstored.additions)
        stored = run.progress
        run.markStored()
    }

    /// Causes one random event.
    private mutating func disturb() throws {
        switch random.int(in: 0...4) {
        case 0:
            let pause = Int64(random.int(in: 1...240_000))
            advance(by: pause)
            paused += pause
            run.replan()
        case 1:
            // Another process takes over, from what was stored.
            let pause = Int64(random.int(in: 1...30_000))
            advance(by: pause)
            paused += pause
            let progress = stored.flatMap { CampaignProgress(json: $0.json) }
            try BrokenInvariant.unless((progress == nil) == (stored == nil), "a progress that cannot be read")
            run = try CampaignStateMachine(
                campaign, id: "c", start: start, names: zones, zones: TestZones.rules, progress: progress)
        case 2:
            for _ in 0..<random.int(in: 1...30) {
                audience.devices[random.int(in: 0...audience.devices.count - 1)].isDone = true
            }
        case 3:
            let index = random.int(in: 0...audience.devices.count - 1)
            audience.devices[index].isMember.toggle()
            audience.devices[index].isSteady = false
        default:
            let index = random.int(in: 0...audience.devices.count - 1)
            audience.devices[index].zone = zones[random.int(in: 0...zones.count - 1)]
            audience.devices[index].isSteady = false
        }
    }

    // MARK: Checks

    func check() throws {
        try checkDevices()
        try checkCounts()
        if !isDisturbed { try checkPlan() }
        try checkPace()
    }

    /// No second has many more pushes than planned, also after pauses.
    private func checkPace() throws {
        var most = rate.map { $0 * 1.25 + 1 }
        if rate == nil, let length = campaign.schedule.roundLength {
            // Before the end of a window, a round may have only half of its time. Avoided minutes shorten it too.
            // With quiet hours, each zone has its own pace.
            let groups = campaign.schedule.quiet == nil ? 1.0 : 5
            most = Double(audience.devices.count) / Double(length / 1000 - 60) * 2.5 + 3 + groups
        }
        guard let most else { return }
        for (second, pushes) in perSecond {
            try BrokenInvariant.unless(
                Double(pushes) <= most,
                "\(pushes) pushes in second \(second), at most \(most): \(description)")
        }
    }

    private func checkDevices() throws {
        for device in audience.devices {
            let zone = campaign.schedule.window?.zone == .device ? device.zone : "Asia/Tokyo"
            let rules = TestZones.rules(zone) ?? TestZones.rules("UTC")!
            for (index, push) in device.pushes.enumerated() where device.isSteady {
                let minute = Int(rules.localTime(at: push.time).secondOfDay / 60)
                let own = TestZones.rules(device.zone) ?? TestZones.rules("UTC")!
                try BrokenInvariant.unless(
                    campaign.schedule.quiet?.contains(push.time, in: own) != true,
                    "a push to \(device.zone) in quiet hours: \(description)")
                if let window = campaign.schedule.window {
                    try BrokenInvariant.unless(
                        (window.from.minutes..<window.to.minutes).contains(minute),
                        "minute \(minute) is out of the window: \(description)")
                    try BrokenInvariant.unless(
                        !campaign.schedule.avoid.contains(minute % 60), "an avoided minute: \(description)")
                }
                if index > 0, let every {
                    let gap = push.time.milliseconds - device.pushes[index - 1].time.milliseconds
                    try BrokenInvariant.unless(gap >= every, "two pushes \(gap) ms apart: \(description)")
                }
                try BrokenInvariant.unless(
                    push.round == index + 1, "round \(push.round) follows \(index): \(description)")
            }
            // With a window that is the same for all devices, the whole window may be quiet for some of them.
            let hasTime = campaign.schedule.quiet == nil || campaign.schedule.window?.zone == .device
            if device.isSteady, !device.isDone,
                paused < 300_000 && hasTime || campaign.schedule.window == nil
            {
                try BrokenInvariant.unless(!device.pushes.isEmpty, "a device got nothing: \(description)")
            }
        }
    }

    /// Without disturbance, the run has the rounds of the plan and ends when the plan ends.
    private func checkPlan() throws {
        guard !campaign.schedule.stages.contains(where: { $0.gate == .resume }) else { return }
        var zones: [String: Int] = [:]
        for device in audience.devices { zones[device.zone, default: 0] += 1 }
        let plan = try CampaignPlan(
            PlanAudience(zones: zones), campaign.schedule, defaultZone: "UTC", zones: TestZones.rules,
            now: start)
        try BrokenInvariant.unless(
            counts.rounds == plan.rounds.values.max(),
            "\(counts.rounds) rounds, planned \(plan.rounds): \(description)")
        let times = audience.devices.flatMap { $0.pushes.map(\.time) }
        let (first, last) = (plan.firstPush!, plan.lastPush!)
        try BrokenInvariant.unless(times.min()! >= first, "a push before the plan's first: \(description)")
        let delay = times.max()!.milliseconds - last.milliseconds
        try BrokenInvariant.unless(
            delay < 3_000, "the last push is \(delay) ms after the plan's: \(description)")
    }

    private func checkCounts() throws {
        let pushes = audience.devices.flatMap(\.pushes)
        for round in 1...max(1, counts.rounds) {
            let handled = counts[.accepted, round] + counts[.unsendable, round]
            try BrokenInvariant.unless(
                handled == pushes.count { $0.round == round },
                "the counts of round \(round) are wrong: \(description)")
            try BrokenInvariant.unless(
                counts[.audience, round] == handled + counts[.capped, round] + counts[.excluded, round],
                "the audience of round \(round) is \(counts[.audience, round]): \(counts.additions) \(description)"
            )
            let marked = audience.sent[round]?.count ?? 0
            try BrokenInvariant.unless(
                counts.marked(ofRound: round) == marked,
                "\(marked) devices have a bit of round \(round): \(counts.additions) \(description)")
        }
    }
}

enum CampaignTests {
    static func parse(_ text: String) throws -> Campaign { try campaign(text) }
}

extension CampaignCounts {
    fileprivate mutating func add(_ additions: [(field: String, number: Int)]) {
        for (field, number) in additions {
            let parts = field.split(separator: ":")
            self[Kind(rawValue: String(parts[0]))!, Int(parts[1])!] += number
        }
    }
}
