import Campaigns
import RandomTesting
import Scheduling
import Segments
import Testing

/// Plays the campaigns of a merge group with fake devices and clocks: takeovers, lost steps, and devices that are done.
struct MergeSimulationTests {
    @Test(arguments: UInt64(1)...9)
    func `pushes of a group are far enough apart, and each campaign has each round once`(seed: UInt64) throws
    {
        var simulation = try MergeSimulation(seed: seed, isDisturbed: seed % 3 != 0)
        try simulation.play()
        try simulation.check()
    }

    @Test(arguments: UInt64(1)...2)
    func `campaigns with the same times share all their pushes`(seed: UInt64) throws {
        let plan = MergeSimulation.Plan(start: 0, every: 25, rounds: 3, cohorts: 4, spread: 15)
        var simulation = try MergeSimulation(seed: seed, isDisturbed: false, plans: [plan, plan])
        try simulation.play()
        try simulation.check()
        for device in 0..<MergeSimulation.devices {
            let isIn = simulation.campaigns.map { $0.audience.devices[device].isMember }
            #expect(simulation.pushes[device].count == (isIn.contains(true) ? 3 : 0), "device \(device)")
        }
    }

    @Test func `a round of which all devices got the content ahead counts, and the next round follows`()
        throws
    {
        // The second round of the second campaign would begin five minutes after that of the first.
        let plans = [20, 25].map {
            MergeSimulation.Plan(start: 0, every: $0, rounds: 4, cohorts: 1, spread: 2)
        }
        var simulation = try MergeSimulation(seed: 1, isDisturbed: false, plans: plans, isForAll: true)
        try simulation.play()
        try simulation.check()
        #expect(simulation.pushes.allSatisfy { $0.count == 4 }, "\(simulation.pushes.map(\.count))")
        for round in 2...4 {
            #expect(simulation.campaigns[1].counts[.merged, round] == MergeSimulation.devices)
        }
    }
}

/// Simulated campaigns of one merge group.
struct MergeSimulation {
    /// Minutes, and numbers of rounds and cohorts.
    struct Plan {
        let start: Int
        let every: Int?
        let rounds: Int
        let cohorts: Int
        let spread: Int
    }

    struct Player {
        let id: String
        let plan: Plan
        let campaign: Campaign
        let start: UTCTime
        var audience: FakeAudience
        var run: CampaignStateMachine
        var stored: CampaignProgress?
        var counts = CampaignCounts()
        var isOver = false
    }

    static let devices = 120
    private static let five = utc("2026-11-26T05:00Z")

    private var random: SplitMix
    private let isDisturbed: Bool
    private let group: MergeGroup
    private(set) var campaigns: [Player] = []
    /// The times of each device's pushes.
    private(set) var pushes = [[UTCTime]](repeating: [], count: devices)
    /// The devices that got a push in each slot and chunk.
    private var slots: [Int64: [AudienceChunk: OrdinalChunk]] = [:]
    private var time = five
    private var instant = ContinuousClock().now

    /// - Parameter isForAll: whether each campaign has all devices in its audience.
    init(seed: UInt64, isDisturbed: Bool, plans: [Plan]? = nil, isForAll: Bool = false) throws {
        random = SplitMix(seed: seed)
        self.isDisturbed = isDisturbed
        group = try MergeGroup(name: "g")
        let audience = FakeAudience(Self.devices, zones: ["UTC"], using: &random)
        let count = random.int(in: 2...4)
        let made = (0..<count).map { _ in Self.plan(&random) }
        for (number, plan) in (plans ?? made).enumerated() {
            var own = audience
            for index in own.devices.indices where !isForAll && random.chance(3) {
                own.devices[index].isMember = false
            }
            campaigns.append(try Self.player("c\(number)", plan, own))
        }
    }

    private static func plan(_ random: inout SplitMix) -> Plan {
        let every = [nil, 20, 25, 25, 40, 55][random.int(in: 0...5)]
        return Plan(
            start: random.chance(2) ? 0 : random.int(in: 0...60), every: every,
            rounds: every == nil ? 1 : random.int(in: 1...4), cohorts: random.chance(2) ? 1 : 4,
            spread: random.int(in: 1...(every ?? 20)))
    }

    private static func player(_ id: String, _ plan: Plan, _ audience: FakeAudience) throws -> Player {
        let repetition = plan.every.map {
            #""repeat":{"every":"\#($0)m","until":"done","max":\#(plan.rounds)},"spread":"\#(plan.spread)m","#
        }
        let campaign = try CampaignTests.parse(
            #"{"segment":"all","push_type":"background","merge":"g","cohorts":\#(plan.cohorts),"#
                + (repetition ?? #""rate":1,"#)
                + #""payload":{"aps":{"content-available":1},"fetch":["\#(id)"]}}"#)
        let start = five.adding(milliseconds: Int64(plan.start) * 60_000)
        return Player(
            id: id, plan: plan, campaign: campaign, start: start, audience: audience,
            run: try CampaignStateMachine(campaign, id: id, start: start, names: [], zones: TestZones.rules))
    }

    // MARK: Play

    mutating func play() throws {
        var steps = 0
        while campaigns.contains(where: { !$0.isOver }) {
            steps += 1
            try BrokenInvariant.unless(steps < 200_000, "the campaigns do not end")
            var wake = time.adding(milliseconds: 60_000)
            for index in campaigns.indices where !campaigns[index].isOver {
                guard campaigns[index].start <= time else {
                    wake = min(wake, campaigns[index].start)
                    continue
                }
                if isDisturbed, random.chance(200) { try disturb(index) }
                if let until = try act(index) { wake = min(wake, until) } else { wake = time }
            }
            let wait = max(1, wake.milliseconds - time.milliseconds)
            time = time.adding(milliseconds: wait)
            instant += .milliseconds(wait)
        }
    }

    /// - Returns: when the campaign acts again; nil for now.
    private mutating func act(_ index: Int) throws -> UTCTime? {
        switch campaigns[index].run.next(at: time, instant) {
        case .count(let requests):
            for request in requests {
                let run = campaigns[index].run
                let count = campaigns[index].audience.count(
                    run.groups[request.group], round: request.round, run.cells(ofRound: request.round))
                campaigns[index].run.counted(count, of: request.group, at: time)
            }
        case .send(let send): try step(index, send)
        case .store: store(index, campaigns[index].run)
        case .wait(let until): return until
        case .finished:
            store(index, campaigns[index].run)
            campaigns[index].isOver = true
        }
        return nil
    }

    private var spacing: MergeSpacing {
        let running = campaigns.filter { !$0.isOver && $0.start <= time }
        return MergeSpacing(every: running.compactMap { $0.plan.every.map { Int64($0) * 60_000 } })
    }

    private mutating func step(_ index: Int, _ send: CampaignSend) throws {
        let own = campaigns[index]
        var copy = own.run
        let choice = own.audience.selection(
            send.chunk, own.run.groups[send.group], round: send.round, own.run.cells(ofRound: send.round)
        ).choose(send.cell, from: send.ordinals.lowerBound, to: send.ordinals.upperBound, most: send.most)
        let recency = MergeRecency(
            spacing, at: time,
            MergeRecency.slots(spacing, at: time).map { slots[$0]?[send.chunk] ?? OrdinalChunk() })
        var merged = MergedStep(
            send.chunk, group, leader: try member(own), try candidates(index, send.chunk, choice.ordinals),
            recency)
        let count = merged.choose(choice.ordinals)
        guard count > 0 || choice.ordinals.isEmpty else {
            let until = try #require(recency.heldUntil(choice.ordinals[0]))
            try BrokenInvariant.unless(until > time, "a device waits until the past")
            campaigns[index].run.hold(send.group, until: until)
            return
        }
        let ordinals = Array(choice.ordinals.prefix(count))
        let isWhole = count == choice.ordinals.count
        copy.sent(
            send,
            CampaignSent(
                accepted: count, next: isWhole ? choice.next : Int(choice.ordinals[count]),
                isExhausted: isWhole && choice.isExhausted), at: time)
        // A step that is lost has no effect.
        if isDisturbed, random.chance(30) { return }
        let changes = merged.accept(ordinals)
        try campaigns[index].audience.store(ordinals, of: send.chunk, round: send.round, at: time)
        store(index, copy)
        slots[merged.recency.slot, default: [:]][send.chunk] = merged.recency.present
        note(ordinals, send.chunk)
        for change in changes {
            try campaigns[change.peer].audience.store(
                change.devices.ordinals, of: send.chunk, round: change.due.round, at: time)
            var run = campaigns[change.peer].run
            run.merged(change.due, cohorts: change.cohorts)
            store(change.peer, run)
        }
    }

    private func member(_ player: Player) throws -> MergeMember {
        try player.campaign.mergeMember(group, id: player.id, startedAt: player.start)
    }

    private func candidates(
        _ index: Int, _ chunk: AudienceChunk, _ ordinals: [UInt16]
    ) throws -> [MergedStep.Candidate] {
        var found: [MergedStep.Candidate] = []
        for (number, peer) in campaigns.enumerated()
        where number != index && !peer.isOver && peer.start <= time {
            for due in peer.run.due(at: time, gap: spacing.gap) {
                let cells = peer.run.cells(ofRound: due.round)
                let devices = peer.audience.selection(
                    chunk, peer.run.groups[due.group], round: due.round, cells
                ).devices(among: ordinals, ofStage: due.stage)
                found.append(
                    .init(peer: number, member: try member(peer), due: due, devices: devices, cells: cells))
            }
        }
        return found
    }

    private mutating func note(_ ordinals: [UInt16], _ chunk: AudienceChunk) {
        let chosen = Set(ordinals)
        for (index, device) in campaigns[0].audience.devices.enumerated()
        where device.partition == chunk.partition && device.ordinal >> 16 == chunk.number
            && chosen.contains(UInt16(device.ordinal & 0xFFFF))
        {
            pushes[index].append(time)
        }
    }

    private mutating func store(_ index: Int, _ run: CampaignStateMachine) {
        campaigns[index].run = run
        for (field, number) in run.unstored.additions {
            let parts = field.split(separator: ":")
            campaigns[index].counts[.init(rawValue: String(parts[0]))!, Int(parts[1])!] += number
        }
        campaigns[index].stored = run.progress
        campaigns[index].run.markStored()
    }

    private mutating func disturb(_ index: Int) throws {
        if random.chance(2) {
            let own = campaigns[index]
            campaigns[index].run = try CampaignStateMachine(
                own.campaign, id: own.id, start: own.start, names: [], zones: TestZones.rules,
                progress: own.stored.flatMap { CampaignProgress(json: $0.json) })
        } else {
            for _ in 0..<random.int(in: 1...10) {
                campaigns[index].audience.devices[random.int(in: 0...Self.devices - 1)].isDone = true
            }
        }
    }

    // MARK: Checks

    func check() throws {
        let every = campaigns.compactMap { $0.plan.every.map { Int64($0) * 60_000 } }
        let least = MergeSpacing(every: every).gap
        for (index, times) in pushes.enumerated() {
            for (one, next) in zip(times, times.dropFirst()) {
                let gap = next.milliseconds - one.milliseconds
                try BrokenInvariant.unless(gap >= least, "device \(index) got pushes \(gap) ms apart")
            }
            let wanted = Set(campaigns.flatMap { $0.audience.devices[index].pushes.map(\.time) })
            try BrokenInvariant.unless(Set(times) == wanted, "device \(index) got pushes at \(times)")
        }
        for player in campaigns { try check(player) }
    }

    private func check(_ player: Player) throws {
        for (index, device) in player.audience.devices.enumerated() where device.isMember {
            let rounds = device.pushes.map(\.round)
            try BrokenInvariant.unless(rounds == rounds.sorted(), "device \(index) got \(rounds)")
            guard !device.isDone else { continue }
            try BrokenInvariant.unless(
                rounds == Array(1...player.plan.rounds),
                "device \(index) got \(rounds) of \(player.id) \(player.plan)")
        }
        for round in 1...player.plan.rounds {
            let count = { (kind: CampaignCounts.Kind) in player.counts[kind, round] }
            let got = player.audience.devices.count { $0.pushes.contains { $0.round == round } }
            try BrokenInvariant.unless(
                count(.accepted) + count(.merged) == got
                    && count(.audience) == got + count(.excluded)
                    && player.counts.marked(ofRound: round) == got,
                "the counts of round \(round) of \(player.id) are \(player.counts.additions), with \(got) devices"
            )
        }
    }
}
