import Campaigns
import EventLoop
import Scheduling
import StoreProtocol

/// A campaign of an app, with its record.
struct StoredCampaign: Sendable {
    let app: String
    let id: String
    let record: CampaignRecord

    /// The campaign in messages: `campaign ed-1 of demo`.
    var name: String { "campaign \(PlainText.of(id)) of \(app)" }

    /// Reads the definition, which was checked when the campaign was created.
    func definition(_ zones: CampaignZones) throws(CommandFailure) -> Campaign {
        do throws(CampaignError) {
            return try zones.parser.parse(record.definition)
        } catch {
            throw .failed("the definition of \(name) cannot be read: \(error.field): \(error.reason)")
        }
    }
}

extension StoredCampaign {
    /// About how many milliseconds all remaining stages and rounds still take; nil if the campaign has no progress, or if this
    /// machine cannot plan it.
    func remaining(at now: UTCTime) -> Int64? {
        let zones = CampaignZones()
        guard let progress = record.progress, let campaign = try? definition(zones) else { return nil }
        let run = try? CampaignStateMachine(
            record.skipsExplore ? campaign.withoutExploration() : campaign, id: id,
            start: UTCTime(milliseconds: record.startedAt ?? record.createdAt), names: [String](),
            zones: { zones.rules($0) }, progress: progress, rate: record.rate)
        return run?.remaining(at: now, released: record.released)
    }

    /// The runs of a recurring campaign; nil for a campaign that does not recur.
    func runs() throws(CommandFailure) -> RecurringSchedule? {
        // Most campaigns do not recur, and their definitions need no time zones here.
        guard record.definition.contains("\"cron\"".utf8) else { return nil }
        let zones = CampaignZones()
        try zones.check()
        let campaign = try definition(zones)
        do throws(ScheduleError) {
            return try RecurringSchedule(campaign, id: id) { zones.rules($0) }
        } catch { throw .failed("\(name) cannot recur: \(error.reason)") }
    }
}

extension FarmClient {
    /// The record of a campaign; nil if the app has no campaign with this id.
    func campaign(_ id: String, _ app: String) async throws(CommandFailure) -> StoredCampaign? {
        let fields = try await call(ReadCampaign(id), app)
        return fields.isEmpty ? nil : StoredCampaign(app: app, id: id, record: CampaignRecord(fields: fields))
    }

    /// The campaign that the command line names.
    func campaign(_ choice: CampaignChoice) async throws(CommandFailure) -> StoredCampaign {
        let apps = try await apps(selectedBy: choice.app)
        var found: [StoredCampaign] = []
        for app in apps {
            if let campaign = try await campaign(choice.campaign, app) { found.append(campaign) }
        }
        guard let only = found.first else {
            let place = apps.isEmpty ? "this farm" : apps.joined(separator: ", ")
            throw .failed("there is no campaign \(PlainText.of(choice.campaign, limit: 64)) in \(place)")
        }
        guard found.count == 1 else {
            throw .usage(
                "several apps have a campaign \(PlainText.of(choice.campaign, limit: 64)); name one with --app: "
                    + found.map(\.app).joined(separator: ", "))
        }
        return only
    }

    /// Changes a campaign's record.
    /// - Throws: an error with the present state, if the campaign has another state than the change expects.
    func change(_ change: ChangeCampaign, of campaign: StoredCampaign) async throws(CommandFailure) {
        guard case .differs(let state) = try await call(change, campaign.app) else { return }
        throw .failed(
            state.isEmpty
                ? "there is no \(campaign.name) any more" : "\(campaign.name) is \(PlainText.of(state)) now")
    }
}
