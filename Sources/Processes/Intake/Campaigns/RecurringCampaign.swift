import Campaigns
import EventLoop
import Logging
import Scheduling
import StoreProtocol

/// Starts the runs of a recurring campaign. Each run is a campaign of its own, which the runner runs.
///
/// The record of the recurring campaign notes a run before the run's own record is created. So if the process is killed between the
/// two, the next process creates the run, and no later run starts beside it.
@Loop final class RecurringCampaign: ActiveCampaign {
    /// The longest time between two looks at the clock, so that a jump of the clock delays no run for long.
    private static let longestWait = Duration.seconds(30)

    private let id: String
    private let campaign: Campaign
    private let runs: RecurringSchedule
    private let services: CampaignServices
    private let log: Logger
    /// Tells the runner that a run was created.
    private let start: @Loop (String) async throws(StoreError) -> Void
    private var record: CampaignRecord
    private(set) var isOver = false
    private(set) var isPaused = false
    /// A recurring campaign sends nothing itself.
    let isRunning = false

    /// - Returns: nil if the campaign does not recur.
    /// - Throws: why the campaign cannot recur.
    init?(
        _ id: String, _ campaign: Campaign, _ record: CampaignRecord, _ services: CampaignServices,
        start: @escaping @Loop (String) async throws(StoreError) -> Void
    ) throws(CampaignError) {
        let found: RecurringSchedule?
        do throws(ScheduleError) {
            found = try RecurringSchedule(campaign, id: id, zones: services.zones.find)
        } catch {
            throw CampaignError(field: error.field.rawValue, position: 0, reason: error.reason, id: id)
        }
        guard let found else { return nil }
        (self.id, self.campaign, self.record, self.services) = (id, campaign, record, services)
        (runs, self.start) = (found, start)
        var log = services.log
        log[metadataKey: "campaign"] = "\(id)"
        self.log = log
    }

    func update(_ record: CampaignRecord) { self.record = record }

    func resume() {
        guard isPaused else { return }
        isPaused = false
        log.notice("recurring campaign resumed")
    }

    /// Ends the recurring campaign. A run that has started is not cancelled.
    func cancel() async throws(StoreError) {
        guard !isOver else { return }
        _ = try await services.perform(
            ChangeCampaign.end(
                id, token: services.token, name: services.uniqueName(), as: .cancelled, reason: "",
                keep: services.keepSeconds))
        isOver = true
        log.notice("recurring campaign cancelled")
    }

    func act() async throws(StoreError) -> Duration {
        if try await services.perform(ReadJobMarks(.paused, jobs: [id])).first ?? nil != nil {
            if !isPaused { log.notice("recurring campaign paused") }
            isPaused = true
            return .seconds(1)
        }
        if let run = record.lastRun, !run.isCreated { return try await create(run) }
        let now = services.now
        guard let handled = record.handledUntil else {
            // Runs that were due before the campaign was started are not missed.
            try await store([(CampaignRecord.Field.handledUntil.rawValue, "\(now.milliseconds)")])
            return .zero
        }
        let decision = runs.decision(
            handledUntil: UTCTime(milliseconds: handled), running: try await runningRun(), now: now)
        for notice in decision.notices { try await write(notice) }
        if decision.handledUntil.milliseconds != handled { try await note(decision) }
        guard decision.start == nil else { return .zero }
        guard let wake = decision.wakeAt else { return Self.longestWait }
        return min(CampaignStart.wait(until: wake, from: now), Self.longestWait)
    }

    /// The id of the last run, if it still adds pushes; nil otherwise.
    private func runningRun() async throws(StoreError) -> String? {
        guard let run = record.lastRun else { return nil }
        let state = try await services.perform(
            ReadCampaignField(run.id, CampaignRecord.Field.state.rawValue))
        return state.flatMap(CampaignState.init)?.isFinal == false ? run.id : nil
    }

    private func write(_ notice: RunNotice) async throws(StoreError) {
        let run: RecurringRun
        switch notice {
        case .skipped(let skipped, _): run = skipped
        case .missed(_, let last): run = last
        }
        try await write(run.id, reason: notice.description)
    }

    /// Writes an event about a run that does not start. The name of the event makes a repeated request write no second event.
    private func write(_ run: String, reason: String) async throws(StoreError) {
        var event = FarmEvent(.campaignRunSkipped)
        event.add("campaign", id)
        event.add("run", run)
        event.add("reason", reason)
        _ = try await services.perform(AddEvent(event, name: "run \(run)"))
        log.notice("a run did not start", metadata: ["reason": "\(reason)"])
    }

    /// Stores up to which time runs are handled, and the run that starts.
    private func note(_ decision: RunCalendar.Decision) async throws(StoreError) {
        var fields: [ChangeCampaign.Field] = [
            (CampaignRecord.Field.handledUntil.rawValue, "\(decision.handledUntil.milliseconds)")
        ]
        if let run = decision.start {
            fields += [
                (CampaignRecord.Field.run.rawValue, run.id),
                (CampaignRecord.Field.runDue.rawValue, "\(run.due.milliseconds)"),
            ]
        }
        try await store(fields)
    }

    private func create(_ run: CampaignRecord.LastRun) async throws(StoreError) -> Duration {
        let due = UTCTime(milliseconds: run.due)
        guard runs.canStart(due: due, now: services.now) else {
            try await write(run.id, reason: "the run \(run.id) was missed")
            try await store([(CampaignRecord.Field.runCreated.rawValue, run.id)])
            return .zero
        }
        var fields: [ChangeCampaign.Field] = [
            (
                CampaignRecord.Field.definition.rawValue,
                String(decoding: runs.definition(ofRun: run.id), as: UTF8.self)
            ),
            (CampaignField.lane.rawValue, CampaignCreator.lane(of: campaign)),
        ]
        if let rate = record.rate { fields.append((CampaignRecord.Field.rate.rawValue, "\(rate)")) }
        do throws(StoreError) {
            _ = try await services.perform(
                ChangeCampaign.create(
                    run.id, token: services.token, name: "run \(run.id)", isDraft: false, fields: fields))
            log.notice("a run of a recurring campaign starts", metadata: ["run": "\(run.id)"])
        } catch {
            guard case .exists = error else { throw error }
            log.error("a job has the id of a run", metadata: ["run": "\(run.id)"])
        }
        try await store([(CampaignRecord.Field.runCreated.rawValue, run.id)])
        if !isOver { try await start(run.id) }
        return .zero
    }

    /// Stores fields of the record, and reads the record again.
    private func store(_ fields: [ChangeCampaign.Field]) async throws(StoreError) {
        _ = try await services.perform(
            ChangeCampaign.note(id, token: services.token, name: services.uniqueName(), fields: fields))
        record = CampaignRecord(fields: try await services.perform(ReadCampaign(id)))
        isOver = record.state != .scheduled
    }
}
