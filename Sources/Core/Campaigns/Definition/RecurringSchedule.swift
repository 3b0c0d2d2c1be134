import PushModel
package import Scheduling

/// The runs of a recurring campaign. Each run is a campaign of its own.
package struct RecurringSchedule: Sendable {
    /// Without a window, a missed run starts up to this number of milliseconds after it was due.
    static let defaultOpen: Int64 = 3_600_000

    private let campaign: Campaign
    private let id: String
    private let calendar: RunCalendar
    /// For how many milliseconds a due run can start.
    private let open: Int64

    /// - Parameters:
    ///   - id: the id of the recurring campaign.
    ///   - zones: returns the rules of a zone; nil for a name that does not exist.
    /// - Returns: nil if the campaign does not recur, or if its zone has no rules.
    /// - Throws: why the campaign cannot recur.
    package init?(
        _ campaign: Campaign, id: String, zones: (String) -> TimeZoneRules?
    ) throws(ScheduleError) {
        guard let cron = campaign.recurrence, let zone = zones(campaign.defaultZone) else { return nil }
        (self.campaign, self.id) = (campaign, id)
        open = campaign.schedule.window?.length ?? Self.defaultOpen
        calendar = try RunCalendar(campaign: id, cron: cron, zone: zone, window: open)
    }

    /// Decides which run starts now, as `RunCalendar` does.
    package func decision(handledUntil: UTCTime, running: String?, now: UTCTime) -> RunCalendar.Decision {
        calendar.decision(handledUntil: handledUntil, running: running, now: now)
    }

    /// Whether a run that was due at a time can still start.
    package func canStart(due: UTCTime, now: UTCTime) -> Bool { now < due.adding(milliseconds: open) }

    /// When the next run after a time is due; nil only for a zone whose clocks change in a way that no real zone does.
    package func next(after time: UTCTime) -> UTCTime? {
        calendar.decision(handledUntil: time, running: nil, now: time).wakeAt
    }

    /// The definition of a run: the campaign's fields without `cron`, with the id of the run. All runs have one series, so that they
    /// have equal stages and cohorts, hold out the same devices, and share the results of variants.
    package func definition(ofRun run: String) -> [UInt8] {
        var text = JSONText()
        text.object { text in
            text.member(CampaignField.id.rawValue, run)
            for part in campaign.parts {
                text.key(part.name)
                text.value(json: campaign.definition[part.range])
            }
            if campaign.series == nil { text.member(CampaignField.series.rawValue, id) }
        }
        return text.bytes
    }
}

extension Campaign {
    /// The fields of the definition that each run has, with the ranges of their values.
    fileprivate var parts: [(name: String, range: Range<Int>)] {
        guard let tree = try? JSONTree(definition), case .object(let members) = tree.content else {
            return []
        }
        let own = [CampaignField.id.rawValue, CampaignField.cron.rawValue]
        return members.filter { !own.contains($0.name) }.map { ($0.name, $0.value.range) }
    }
}

extension CampaignWindow {
    /// The length of the window in milliseconds, on a day without a change of clocks.
    fileprivate var length: Int64 {
        let minutes = to.minutes - from.minutes
        return Int64(minutes > 0 ? minutes : minutes + 1440) * 60_000
    }
}
