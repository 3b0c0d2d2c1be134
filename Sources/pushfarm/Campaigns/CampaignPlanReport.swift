import Campaigns
import CheckedNumbers
import FarmLogging
import Scheduling
import Variants

/// The plan of a campaign, as a table for people or as JSON.
struct CampaignPlanReport {
    let app: String
    let campaign: Campaign
    let outcome: CampaignPlanner.Outcome
    let zones: CampaignZones
    /// The requests that each device sends to the publisher's API after a push.
    let requests: Int
    /// Why the campaign would learn little about its variants, or why some pushes may not be possible.
    var warnings: [String] = []
    /// The merge group; nil for a campaign that is not merged.
    var merge: CampaignMergeReport?

    private var plan: CampaignPlan { outcome.plan }

    /// The maximum number of rows of a table.
    private static let mostRows = 40
    /// The maximum number of zones with quiet hours to name.
    private static let mostQuietZones = 8

    /// A part of the plan without regard to cohorts.
    private struct Part {
        let zone: String?
        let round: Int
        let stage: Int?
        var start: UTCTime
        var end: UTCTime
        var pushes: Int
    }

    private var parts: [Part] {
        var parts: [Part] = []
        var places: [String: Int] = [:]
        for row in plan.rows {
            let key = "\(row.zone ?? "") \(row.round) \(row.stage ?? 0)"
            if let place = places[key] {
                parts[place].start = min(parts[place].start, row.start)
                parts[place].end = max(parts[place].end, row.end)
                parts[place].pushes += row.pushes
            } else {
                places[key] = parts.count
                parts.append(
                    Part(
                        zone: row.zone, round: row.round, stage: row.stage, start: row.start, end: row.end,
                        pushes: row.pushes))
            }
        }
        return parts
    }

    /// The highest number of requests a second that reach the publisher's API.
    private var load: Double { plan.peak * Double(requests) }

    // MARK: Text

    func text(_ style: TextStyle) -> String {
        var facts = Table(["": .left, "": .left])
        func add(_ name: String, _ text: String) { facts.add(.init(name, .dim), .init(text)) }
        add(
            "audience",
            outcome.allDevices.map {
                "\(Figures.grouped(plan.devices)) of \(Figures.counted($0, "device", "devices"))"
            } ?? Figures.counted(plan.devices, "row", "rows"))
        if !outcome.platforms.isEmpty {
            let platforms = outcome.platforms.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            add(
                "platforms",
                platforms.map { "\($0.key) \(Figures.grouped($0.value))" }.joined(separator: ", "))
        }
        if !outcome.audience.zones.isEmpty, !campaign.schedule.dividesByZone {
            add("zones", zoneText)
        }
        if plan.withoutZone > 0, campaign.schedule.dividesByZone {
            add("without a zone", "\(Figures.grouped(plan.withoutZone)), sent in \(campaign.defaultZone)")
        }
        guard let first = plan.firstPush, let last = plan.lastPush else {
            return facts.text(style) + "no device is in the audience\n"
        }
        add("first push", "\(Timestamp(milliseconds: first.milliseconds))")
        add("last push", "\(Timestamp(milliseconds: last.milliseconds))")
        add(
            "rate",
            "up to \(Self.rate(plan.peak))\(outcome.rateLimit.map { ", limit \(Self.rate($0))" } ?? "")")
        if let limited = outcome.limited {
            add("capped now", "\(Figures.counted(limited.capped, "device", "devices"))")
            if campaign.limits.quiet != nil {
                add("quiet now", "\(Figures.counted(limited.quiet, "device", "devices"))")
            }
        }
        for (name, text) in quietFacts { add(name, text) }
        if let unreachable = outcome.unreachable, unreachable > 0 {
            add(
                "unreachable",
                "\(Figures.counted(unreachable, "device", "devices")) in background; the campaign sends to them"
            )
        }
        add("stops", "if more than \(stopShare) % of the last 1,000 pushes failed")
        if let merge {
            add("merge group", merge.group)
            add("merged with", merge.othersText)
        }
        if campaign.schedule.cohorts > 1 { add("cohorts", "\(campaign.schedule.cohorts)") }
        add("requests", "up to \(Self.rate(load)), if each device sends \(Figures.grouped(requests))")
        return facts.text(style) + "\n" + rows(style)
            + warnings.map { "\(Paint.yellow.on("warning", if: style.colours)): \($0)\n" }.joined()
    }

    /// The zones with the most devices. The table has the zones of a campaign whose window follows each device's clocks.
    private var zoneText: String {
        let zones = outcome.audience.zones.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let shown = zones.prefix(4).map { "\($0.key) \(Figures.grouped($0.value))" }.joined(separator: ", ")
        return zones.count > 4 ? "\(shown) and \(zones.count - 4) more (--json)" : shown
    }

    /// The zones whose devices get no push, or get it in a later window, because of quiet hours: one zone on each line.
    private var quietFacts: [(String, String)] {
        facts("no push", plan.quietZones, "where the whole window is quiet")
            + facts("next window", plan.delayedZones, "where the rest of the window is quiet")
    }

    private func facts(_ name: String, _ zones: [String: Int], _ reason: String) -> [(String, String)] {
        guard !zones.isEmpty else { return [] }
        let devices = zones.values.reduce(0) { $0.adding(saturating: $1) }
        let sorted = zones.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        var facts = [(name, "\(Figures.counted(devices, "device", "devices")), \(reason):")]
        for zone in sorted.prefix(Self.mostQuietZones) {
            facts.append(("", "\(zone.key) \(Figures.grouped(zone.value))"))
        }
        let rest = sorted.count - Self.mostQuietZones
        if rest > 0 { facts.append(("", "and \(Figures.counted(rest, "more zone", "more zones")) (--json)")) }
        return facts
    }

    private func rows(_ style: TextStyle) -> String {
        var table = Table([
            "ZONE": .left, "ROUND": .right, "STAGE": .right, "FIRST (LOCAL)": .right, "LAST (LOCAL)": .right,
            "PUSHES": .right,
        ])
        let parts = parts
        for part in parts.prefix(Self.mostRows) {
            let zone = part.zone ?? campaign.defaultZone
            table.add(
                .init(part.zone ?? "all"), .init("\(part.round)"), .init(part.stage.map(String.init) ?? "-"),
                .init(local(part.start, zone)), .init(local(part.end, zone)),
                .init(Figures.short(part.pushes)))
        }
        let rest = parts.count - Self.mostRows
        return table.text(style)
            + (rest > 0 ? "and \(Figures.counted(rest, "more row", "more rows")) (--json)\n" : "")
    }

    /// The time on a zone's clocks, without the year.
    private func local(_ time: UTCTime, _ zone: String) -> String {
        guard let rules = zones.rules(zone) else { return "\(Timestamp(milliseconds: time.milliseconds))" }
        let local = rules.localTime(at: time)
        let seconds = "\(local.secondOfDay % 60)"
        return "\("\(local)".dropFirst(5)):\(seconds.count < 2 ? "0" : "")\(seconds)"
    }

    private static func rate(_ perSecond: Double) -> String {
        perSecond >= 100
            ? "\(Figures.grouped(Int(clamping: perSecond.rounded())))/s" : Figures.perTime(perSecond)
    }

    /// The percentage of failed pushes above which the campaign pauses.
    private var stopShare: String {
        let percent = campaign.limits.stopShare * 100
        return percent == percent.rounded() ? "\(Int(clamping: percent))" : "\(percent)"
    }

    // MARK: JSON

    var json: JSONValue {
        .object([
            "app": .string(app), "id": .text(campaign.id), "devices": .number(plan.devices),
            "all_devices": .whole(outcome.allDevices), "zones": .counts(outcome.audience.zones),
            "without_zone": .number(plan.withoutZone), "platforms": .counts(outcome.platforms),
            "first_push": .whole(plan.firstPush?.milliseconds),
            "last_push": .whole(plan.lastPush?.milliseconds),
            "peak_per_second": .decimal(plan.peak),
            "rate_limit": outcome.rateLimit.map { .decimal($0) } ?? .null,
            "requests_per_second": .decimal(load),
            "capped_now": .whole(outcome.limited?.capped),
            "quiet_now": .whole(outcome.limited?.quiet), "quiet_zones": .counts(plan.quietZones),
            "delayed_zones": .counts(plan.delayedZones), "unreachable": .whole(outcome.unreachable),
            "stop_at": .decimal(campaign.limits.stopShare), "rounds": .counts(plan.rounds),
            "merge": merge?.json ?? .null, "warnings": .strings(warnings),
            "rows": .array(
                plan.rows.map { row in
                    .object([
                        "zone": .text(row.zone), "round": .number(row.round), "stage": .whole(row.stage),
                        "cohort": .number(row.cohort), "start": .number(row.start.milliseconds),
                        "end": .number(row.end.milliseconds), "pushes": .number(row.pushes),
                    ])
                }),
        ])
    }
}
