import Campaigns
import EventLoop
import Logging
import PushModel
import Scheduling
import Segments
import StoreProtocol

/// A campaign that sends. It performs one action at a time, and says when the next action is due.
@Loop final class RunningCampaign {
    enum ActionResult {
        /// The next action is due after this time; zero if more can be done now.
        case wait(Duration)
        /// The campaign was cancelled, and its last step is not stored yet.
        case cancelled
        /// The campaign adds no more pushes.
        case finished
    }

    /// How long a campaign waits while the app is full.
    private static let fullWait = Duration.milliseconds(100)

    let id: String
    private let services: CampaignServices
    private let log: Logger
    private let campaign: Campaign
    private let attributes: [String]
    private let loader: AudienceLoader
    private var record: CampaignRecord
    private var run: CampaignStateMachine
    private var step: Int
    /// The name of the last step.
    private var lastStep: String
    private var skipped: SkippedDevices
    /// The devices that all rounds have handled.
    private(set) var handled: Int
    /// Returns the campaigns of a merge group that run now.
    private let peers: @Loop (String) -> [RunningCampaign]
    /// Whether Redis refused the last step because the campaign is paused.
    private(set) var isPaused = false

    /// - Parameters:
    ///   - zoneNames: the names of the time zones that devices of the audience have.
    ///   - rateLimit: the app's rate limit in pushes a second; nil for no limit.
    ///   - peers: returns the running campaigns of a merge group.
    /// - Throws: why the rest of the campaign does not fit into its windows.
    init(
        _ id: String, _ campaign: Campaign, _ record: CampaignRecord, _ services: CampaignServices,
        log: Logger, zoneNames: Set<String>, rateLimit: Double?, loader: AudienceLoader,
        peers: @escaping @Loop (String) -> [RunningCampaign]
    ) throws(PlanRefusal) {
        (self.id, self.record, self.services, self.log) = (id, record, services, log)
        (self.loader, self.peers) = (loader, peers)
        // If the series has enough results at the start, the campaign explores no variants.
        self.campaign = record.skipsExplore ? campaign.withoutExploration() : campaign
        attributes = campaign.attributes
        (step, lastStep) = (record.step, record.lastStep)
        skipped = SkippedDevices(campaign: id)
        handled = record.counts.handled
        run = try CampaignStateMachine(
            self.campaign, id: id, start: services.startTime(of: record), names: zoneNames,
            zones: services.zones.find, progress: record.progress, rate: record.rate, rateLimit: rateLimit)
    }

    // MARK: Changes

    /// Takes a record that an operator has changed.
    func update(_ record: CampaignRecord) {
        if record.rate != self.record.rate { run.change(rate: record.rate) }
        self.record = record
    }

    /// Notes that the pause of the campaign has ended. The rest of the round gets a new plan, so that no burst follows.
    func resume() {
        guard isPaused else { return }
        isPaused = false
        log.notice("campaign resumed")
        run.replan()
    }

    /// Stores that the campaign was cancelled.
    func cancel() async throws(StoreError) {
        _ = try await services.perform(
            StoreCampaignStep.cancelling(id, step: step + 1, after: lastStep, services))
    }

    // MARK: Progress

    /// The progress of the groups.
    var progress: CampaignProgress { run.progress }
    /// About how many milliseconds the campaign still sends; nil if it is over.
    var remaining: Int64? { run.remaining(at: services.now, released: record.released) }

    /// The pushes that the present rounds still have to send.
    var remainingWork: RemainingWork { run.remainingWork }

    // MARK: Actions

    /// Performs the next action.
    func advance(_ audience: CampaignAudience) async throws(StoreError) -> ActionResult {
        let now = services.now
        switch run.next(at: now, .now, released: record.released) {
        case .count(let counts): return try await count(counts, audience)
        case .send(let send):
            guard campaign.isBackground, !campaign.audience.isList, !send.isFallback,
                services.setup.backgroundBudget > 0
            else {
                return try await self.send(send, audience)
            }
            // The look-ups of jobs change the same counters.
            guard await services.budget.begin() else { return .wait(.zero) }
            defer { services.budget.end() }
            return try await self.send(send, audience)
        case .store: return try await store(run, stepRequest(run))
        case .wait(let until): return .wait(CampaignStart.wait(until: until, from: now))
        case .finished:
            var request = stepRequest(run)
            (request.ending, request.keep) = (.finished, services.keepSeconds)
            return try await store(run, request)
        }
    }

    private func count(
        _ counts: [AudienceCountRequest], _ audience: CampaignAudience
    ) async throws(StoreError) -> ActionResult {
        var run = run
        let found = try await AudienceCounter(
            services: services, id: id, audience: audience, audienceEnds: record.audienceEnds
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
        self.run = run
        return .wait(.zero)
    }

    private func send(
        _ send: CampaignSend, _ audience: CampaignAudience
    ) async throws(StoreError) -> ActionResult {
        var run = run
        let preparation = CampaignStep(
            services: services, id: id, campaign: campaign, audienceEnds: record.audienceEnds,
            audience: audience,
            attributes: attributes, step: step + 1, series: record.resultsSeries, merging: try await merging()
        )
        let result = try await services.retrying("read devices of a campaign") { () throws(StoreError) in
            try await preparation.prepare(
                send, members: run.groups[send.group].members,
                cells: run.cells(ofRound: send.round))
        }
        switch result {
        case .nothing(let sent):
            run.sent(send, sent, at: services.now)
            self.run = run
            return .wait(.zero)
        case .held(let until):
            run.hold(send.group, until: until)
            self.run = run
            return .wait(.zero)
        case .listRemoved:
            // The next action finds no list, and waits.
            return .wait(.zero)
        case .unreadable:
            skip(send.chunk)
            let skipped = CampaignSent(accepted: 0, next: OrdinalChunk.size, isExhausted: true)
            run.sent(send, skipped, at: services.now)
            self.run = run
            return .wait(.zero)
        case .prepared(let prepared):
            run.sent(send, prepared.sent, at: services.now)
            if prepared.sent.unsendable > 0 {
                skipped.add(prepared.sent.unsendable, reason: prepared.fault ?? "")
            }
            var request = stepRequest(run)
            request.strings = prepared.strings
            request.counts += prepared.counts
            request.batches = prepared.batches
            request.merged = prepared.merged.map(\.request)
            if !request.merged.isEmpty, let merge = campaign.merge {
                request.fields.append((CampaignRecord.Field.carries.rawValue, merge.name))
            }
            return try await store(run, request, merged: prepared.merged.map { ($0.campaign, $0.run) })
        }
    }

    // MARK: Steps

    /// A step that stores the run and its counts.
    private func stepRequest(_ run: CampaignStateMachine) -> StoreCampaignStep {
        var request = StoreCampaignStep(
            token: services.token, campaign: id, step: step + 1, after: lastStep,
            name: services.uniqueName())
        request.fields = [
            (CampaignRecord.Field.progress.rawValue, String(decoding: run.progress.json, as: UTF8.self))
        ]
        request.counts = run.unstored.additions.map { ($0.field, $0.number) }
        request.events = skipped.events
        return request
    }

    /// Performs a step. The run replaces the present run if the step is stored.
    ///
    /// - Parameter merged: the runs of the campaigns whose content the step's pushes contain, as the step stores them.
    private func store(
        _ run: CampaignStateMachine, _ request: StoreCampaignStep,
        merged: [(campaign: RunningCampaign, run: CampaignStateMachine)] = []
    ) async throws(StoreError) -> ActionResult {
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
            return .wait(.seconds(1))
        case .cancelled: return .cancelled
        case .full: return .wait(Self.fullWait)
        case .mergedUnavailable(let id):
            // The campaign is paused or cancelled. The runner reads its marks, and the next step omits its content.
            for merged in merged where merged.campaign.id == id { merged.campaign.isPaused = true }
            return .wait(.zero)
        }
        for merged in merged {
            merged.campaign.step += 1
            merged.campaign.lastStep = request.name
            merged.campaign.takeStored(merged.run)
        }
        (step, lastStep) = (request.step, request.name)
        skipped.markStored(request.events.count)
        services.context.counts.pushes += UInt64(request.batches.reduce(0) { $0 + $1.tokens })
        takeStored(run)
        return request.ending == nil ? .wait(.zero) : .finished
    }

    /// Continues with a run whose progress and counts are stored.
    private func takeStored(_ run: CampaignStateMachine) {
        services.context.counts(of: services.setup.name).add(run.unstored)
        handled = handled.adding(saturating: run.unstored.handled)
        self.run = run
        self.run.markStored()
    }

    // MARK: Merged pushes

    /// Whether the content of the campaign may be in pushes of other campaigns.
    func isMerged(in group: String) -> Bool { !isPaused && campaign.merge?.name == group }

    /// What a step of this campaign needs to merge its pushes; nil for a campaign that is not merged.
    private func merging() async throws(StoreError) -> MergeReader? {
        guard let merge = campaign.merge,
            let group = try? MergeGroup(name: merge.name, payloadLimit: services.jobLimits.payloadBytes),
            let leader = member(of: group)
        else { return nil }
        let others = peers(merge.name).filter { $0 !== self }
        let spacing = MergeSpacing(
            every: ([self] + others).compactMap(\.campaign.schedule.repetition?.every),
            factor: TimeFactor.current)
        var found: [MergePeer] = []
        for other in others {
            guard let peer = try await other.peer(in: group, gap: spacing.gap) else { continue }
            found.append(peer)
        }
        found.sort { MergeMember.precedes($0.member, $1.member) }
        return MergeReader(
            services: services, group: group, spacing: spacing, leader: leader,
            peers: Array(found.prefix(MergePeer.most)))
    }

    private func member(of group: MergeGroup) -> MergeMember? {
        // The parser has checked the payload.
        try? campaign.mergeMember(group, id: id, startedAt: services.startTime(of: record))
    }

    /// The campaign as another campaign of its merge group sees it; nil if no device needs its content now.
    private func peer(in group: MergeGroup, gap: Int64) async throws(StoreError) -> MergePeer? {
        guard let member = member(of: group) else { return nil }
        let due = run.due(at: services.now, gap: gap)
        guard !due.isEmpty, let audience = try await loader.load(version: record.list) else { return nil }
        return MergePeer(
            campaign: self, member: member, step: step, lastStep: lastStep, run: run, audience: audience,
            audienceEnds: record.audienceEnds, due: due)
    }

    // MARK: Skipped devices

    private func skip(_ chunk: AudienceChunk) {
        guard let reason = skipped.add(unreadable: chunk) else { return }
        log.error("devices of a campaign are skipped", metadata: ["reason": "\(reason)"])
    }
}
