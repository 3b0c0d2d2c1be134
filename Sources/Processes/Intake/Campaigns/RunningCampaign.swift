import Campaigns
import ControlChannel
import EventLoop
import Logging
import PushModel
import Registry
import Scheduling
import Segments
import StoreProtocol

/// One campaign that waits for its start or runs. It performs one action at a time, and says when the next action is due.
@Loop final class RunningCampaign {
    private enum Phase {
        case scheduled
        case running(CampaignRun)
        /// The campaign adds no more pushes.
        case over
    }

    /// The result of ``act()`` when the campaign is over.
    private static let overWait = Duration.seconds(30)
    /// How long a campaign waits while the app is full.
    private static let fullWait = Duration.milliseconds(100)
    /// How long a campaign waits while something outside of it must be fixed.
    private static let troubleWait = Duration.seconds(5)

    let id: String
    private let services: CampaignServices
    private let log: Logger
    private let campaign: Campaign
    private let attributes: [String]
    private var record: CampaignRecord
    private var step: Int
    private var phase: Phase
    private var skipped: SkippedDevices
    private var lastTrouble: String?
    private let starting: CampaignStart
    private let lateness: LatenessCheck
    /// The devices that all rounds have handled.
    private var handled: Int
    /// Whether Redis refused the last step because the campaign is paused.
    private(set) var isPaused = false

    /// Loads a campaign.
    ///
    /// - Throws: why the definition of the record is not valid.
    init(_ id: String, _ record: CampaignRecord, _ services: CampaignServices) throws(CampaignError) {
        (self.id, self.record, self.services) = (id, record, services)
        var log = services.log
        log[metadataKey: "campaign"] = "\(id)"
        self.log = log
        campaign = try CampaignParser(zones: services.zones.find).parse(record.definition)
            .divided(by: TimeFactor.current)
        attributes = campaign.attributes
        step = record.step
        skipped = SkippedDevices(campaign: id)
        starting = CampaignStart(services, id, campaign)
        handled = record.counts.handled
        lateness = LatenessCheck(id, services, isRunning: record.state == .running)
        phase = .scheduled
    }

    /// Whether the campaign has started.
    var isRunning: Bool { record.state == .running }

    /// The campaign as it runs: if its series has enough results at the start, it explores no variants.
    private var present: Campaign { record.isLearned ? campaign.withoutExploration() : campaign }

    var isOver: Bool { if case .over = phase { true } else { false } }

    // MARK: Changes

    /// Takes a record that an operator has changed.
    func update(_ record: CampaignRecord) {
        let rate = self.record.rate
        self.record = record
        guard case .running(var run) = phase, rate != record.rate else { return }
        lateness.restart()
        run.change(rate: record.rate)
        phase = .running(run)
    }

    /// Notes that the pause of the campaign has ended. The rest of the round gets a new plan, so that no burst follows.
    func resume() {
        guard isPaused else { return }
        isPaused = false
        log.notice("campaign resumed")
        guard case .running(var run) = phase else { return }
        run.replan()
        phase = .running(run)
    }

    /// Ends the campaign because it was cancelled.
    func cancel() async throws(StoreError) {
        switch phase {
        case .over: return
        case .scheduled where record.state != .running: try await end(.cancelled, reason: "")
        case .scheduled, .running:
            var request = ExtendJob(
                token: services.token, campaign: id, step: step + 1, name: services.uniqueName())
            (request.ending, request.keep) = (.cancelled, services.keepSeconds)
            _ = try await services.perform(request)
            phase = .over
        }
        log.notice("campaign cancelled")
    }

    // MARK: Forecast

    var forecast: CampaignForecast.Verdict { lateness.verdict }

    func describe(in line: inout IntakeNotice.Heartbeat.Campaign) {
        line.total = UInt64(clamping: handled)
        guard case .running(let run) = phase else {
            line.next = starting.firstPush.map { UInt64(clamping: $0.milliseconds) }
            return
        }
        line.add(run.progress, isPaused: isPaused, at: services.now)
    }

    func observe() async throws(StoreError) {
        guard case .running(let run) = phase else { return }
        if isPaused { lateness.pause() } else { try await lateness.check(run.remainingWork) }
    }

    // MARK: Actions

    /// Performs the next action.
    ///
    /// - Returns: when to call again; zero if more can be done now.
    func act() async throws(StoreError) -> Duration {
        if isPaused { return .seconds(1) }
        switch phase {
        case .over: return Self.overWait
        case .scheduled:
            guard let audience = try await readAudience() else { return Self.troubleWait }
            return try await start(audience)
        case .running(let run):
            guard let audience = try await readAudience() else { return Self.troubleWait }
            return try await advance(run, audience)
        }
    }

    /// Returns the audience; nil if it cannot be read. Then the campaign waits, because an operator can save the segment again.
    private func readAudience() async throws(StoreError) -> CampaignAudience? {
        let result = try await services.retrying("read the audience of a campaign") { () throws(StoreError) in
            try await services.audience.audience(campaign.audience, version: record.list)
        }
        switch result {
        case .success(let audience):
            lastTrouble = nil
            return audience
        case .failure(let trouble):
            if lastTrouble != trouble.description {
                log.error("the campaign waits", metadata: ["reason": "\(trouble)"])
                lastTrouble = trouble.description
            }
            return nil
        }
    }

    // MARK: Start

    private func start(_ audience: CampaignAudience) async throws(StoreError) -> Duration {
        guard record.state == .running else { return try await startWhenDue(audience) }
        let (names, rateLimit) = (try await zoneNames(audience), try await services.rateLimit())
        do throws(PlanRefusal) {
            phase = .running(
                try CampaignRun(
                    present, id: id, start: startTime, names: names, zones: services.zones.find,
                    progress: record.progress, rate: record.rate, rateLimit: rateLimit))
            return .zero
        } catch {
            try await end(.refused, reason: "\(error)")
            return .zero
        }
    }

    private var startTime: UTCTime {
        record.startedAt.map { UTCTime(milliseconds: $0) } ?? services.now
    }

    private func zoneNames(_ audience: CampaignAudience) async throws(StoreError) -> Set<String> {
        try await services.retrying("read the zones of devices") { () throws(StoreError) in
            try await services.audience.zoneNames(of: audience)
        }
    }

    /// Begins the campaign when its first window begins, if its pushes fit into its windows.
    private func startWhenDue(_ audience: CampaignAudience) async throws(StoreError) -> Duration {
        switch try await starting.decide(audience, zoneNames: try await zoneNames(audience)) {
        case .wait(let time): return time
        case .refuse(let refusal):
            try await end(.refused, reason: "\(refusal)")
            return .zero
        case .begin(let limits, let time):
            try await addCappedPeriods()
            let list = audience.version.map { (CampaignRecord.Field.list.rawValue, $0) }
            let change = ChangeCampaign.begin(
                id, token: services.token, name: services.uniqueName(),
                fields: [
                    (CampaignRecord.Field.audienceEnds.rawValue, CampaignRecord.text(ofAudienceEnds: limits)),
                    (CampaignRecord.Field.startsAt.rawValue, "\(time.milliseconds)"),
                    (CampaignRecord.Field.stopAt.rawValue, "\(campaign.limits.stopShare)"),
                ] + (list.map { [$0] } ?? []) + (try await learningFields()))
            _ = try await services.perform(change)
            record = CampaignRecord(fields: try await services.perform(ReadCampaign(id)))
            step = record.step
            guard record.state == .running else {
                phase = .over
                return .zero
            }
            log.notice("campaign started")
            return .zero
        }
    }

    /// Makes all campaigns of the category count in the periods of this campaign's caps.
    private func addCappedPeriods() async throws(StoreError) {
        let periods = Set(campaign.limits.caps.map(\.period))
        guard !periods.isEmpty else { return }
        try await services.cappedPeriods.add(
            periods, to: campaign.limits.category ?? CapRules.commonCategory)
    }

    /// The fields for the variants of a campaign that learns from its series.
    private func learningFields() async throws(StoreError) -> [ChangeCampaign.Field] {
        guard let variants = campaign.variants, let series = campaign.series else { return [] }
        let earlier = try await VariantStep.results(of: variants, id: id, series: series, services)
        return [(CampaignRecord.Field.learns.rawValue, series)]
            + (variants.isKnown(from: earlier) ? [(CampaignRecord.Field.learned.rawValue, "1")] : [])
    }

    // MARK: Running

    private func advance(
        _ before: CampaignRun, _ audience: CampaignAudience
    ) async throws(StoreError) -> Duration {
        var run = before
        let now = services.now
        let action = run.next(at: now, .now, released: record.released)
        phase = .running(run)
        switch action {
        case .count(let counts): return try await count(counts, run, audience)
        case .send(let send): return try await self.send(send, run, audience)
        case .store: return try await store(run, stepRequest(run))
        case .wait(let until): return CampaignStart.wait(until: until, from: now)
        case .finished:
            var request = stepRequest(run)
            (request.ending, request.keep) = (.finished, services.keepSeconds)
            return try await store(run, request)
        }
    }

    private func count(
        _ counts: [CampaignCount], _ before: CampaignRun, _ audience: CampaignAudience
    ) async throws(StoreError) -> Duration {
        var run = before
        let found = try await AudienceCounter(
            services: services, id: id, audience: audience, limits: record.audienceEnds
        ).count(
            counts.map { count in
                .init(
                    members: run.groups[count.group].members, round: count.round,
                    cells: run.cells(ofRound: count.round))
            })
        for chunk in found.unreadable { skip(chunk) }
        for (count, result) in zip(counts, found.parts) {
            run.counted(result, of: count.group, at: services.now)
        }
        phase = .running(run)
        return .zero
    }

    private func send(
        _ send: CampaignSend, _ before: CampaignRun, _ audience: CampaignAudience
    ) async throws(StoreError) -> Duration {
        var run = before
        let preparation = CampaignStep(
            services: services, id: id, campaign: present, limits: record.audienceEnds, audience: audience,
            attributes: attributes, step: step + 1, series: record.learns)
        let result = try await services.retrying("read devices of a campaign") { () throws(StoreError) in
            try await preparation.prepare(
                send, members: run.groups[send.group].members,
                cells: run.cells(ofRound: send.round))
        }
        switch result {
        case .nothing(let sent):
            run.sent(send, sent, at: services.now)
            phase = .running(run)
            return .zero
        case .listRemoved:
            // The next action finds no list, and waits.
            return .zero
        case .unreadable:
            skip(send.chunk)
            let skipped = CampaignSent(accepted: 0, next: OrdinalChunk.size, isExhausted: true)
            run.sent(send, skipped, at: services.now)
            phase = .running(run)
            return .zero
        case .prepared(let prepared):
            run.sent(send, prepared.sent, at: services.now)
            if prepared.sent.unsendable > 0 {
                skipped.add(prepared.sent.unsendable, reason: prepared.fault ?? "")
            }
            var request = stepRequest(run)
            request.strings = prepared.strings
            request.counts += prepared.counts
            request.batches = prepared.batches
            return try await store(run, request)
        }
    }

    // MARK: Steps

    /// A step that stores the run and its counts.
    private func stepRequest(_ run: CampaignRun) -> ExtendJob {
        var request = ExtendJob(
            token: services.token, campaign: id, step: step + 1, name: services.uniqueName())
        request.fields = [
            (CampaignRecord.Field.progress.rawValue, String(decoding: run.progress.json, as: UTF8.self))
        ]
        request.counts = run.unstored.additions.map { ($0.field, $0.number) }
        request.events = skipped.events
        return request
    }

    /// Performs a step. The run replaces the present run if the step is stored.
    private func store(_ run: CampaignRun, _ request: ExtendJob) async throws(StoreError) -> Duration {
        switch try await services.perform(request) {
        case .done(_, let nextDue):
            if let nextDue {
                services.context.notify(
                    .delayed(app: services.setup.name, milliseconds: nextDue.milliseconds))
            }
        case .doneBefore: services.context.notify(.delayed(app: services.setup.name, milliseconds: 0))
        case .paused:
            isPaused = true
            log.notice("campaign paused")
            return .seconds(1)
        case .cancelled:
            try await cancel()
            return .zero
        case .full: return Self.fullWait
        }
        step = request.step
        skipped.markStored(request.events.count)
        services.context.counts(of: services.setup.name).add(run.unstored)
        handled = handled.adding(saturating: run.unstored.handled)
        services.context.counts.pushes += UInt64(request.batches.reduce(0) { $0 + $1.tokens })
        guard request.ending == nil else {
            phase = .over
            log.notice("campaign finished")
            return .zero
        }
        var run = run
        run.markStored()
        phase = .running(run)
        return .zero
    }

    /// Ends a campaign that cannot run.
    private func end(_ ending: CampaignEnding, reason: String) async throws(StoreError) {
        let change = ChangeCampaign.end(
            id, token: services.token, name: services.uniqueName(), as: ending, reason: reason,
            keep: services.keepSeconds)
        _ = try await services.perform(change)
        phase = .over
        log.notice("campaign \(ending.rawValue)", metadata: ["reason": "\(reason)"])
    }

    // MARK: Skipped devices

    private func skip(_ chunk: AudienceChunk) {
        guard let reason = skipped.add(unreadable: chunk) else { return }
        log.error("devices of a campaign are skipped", metadata: ["reason": "\(reason)"])
    }
}
