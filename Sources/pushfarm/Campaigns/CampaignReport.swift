import Campaigns
import EventLoop
import FarmLogging
import Scheduling
import StoreProtocol

/// A campaign with the counts of its job, as a table for people or as JSON.
struct CampaignReport: Sendable {
    let stored: StoredCampaign
    /// The record of the campaign's job; nil before the start, and after the record has expired.
    let job: JobRecord?
    /// Who paused the campaign and why; nil if the campaign is not paused.
    let pause: String?
    /// Whether the campaign is being cancelled: its cancellation is requested, and its state is not yet `cancelled`.
    let isBeingCancelled: Bool
    /// When the next run of a recurring campaign is due; nil for a campaign that does not recur.
    var nextRun: UTCTime?
    /// When the first push of a scheduled campaign is due; nil if the campaign has begun, or the time is not known.
    var firstPush: UTCTime?
    /// About how many milliseconds all remaining stages and rounds still take; nil if the campaign does not run or is paused.
    var remaining: Int64?
    /// The merge group; nil for a campaign that is not merged, and in lists of campaigns.
    var merge: CampaignMergeReport?
    /// Sent and done devices by an attribute; nil if the command does not ask for them.
    var breakdown: CampaignBreakdown?
    /// The handled devices that background pushes may not reach; nil for a campaign without background pushes to stored devices.
    var unreachable: Unreachable?
    /// The results of the variants; nil for a campaign without variants.
    var variants: CampaignVariantReport?

    enum Unreachable: Sendable {
        case devices(Int)
        /// The registry cannot be read.
        case unknown(reason: String)
    }

    private var record: CampaignRecord { stored.record }

    /// The state in a table; a pause hides the state.
    var state: Table.Cell {
        if isBeingCancelled { return .init("cancelling", .yellow) }
        if pause != nil { return .init("paused", .red) }
        guard let state = record.state else { return .init("unreadable", .red) }
        if nextRun != nil { return .init("recurring", .yellow) }
        if isWaitingForResume { return .init("waits", .yellow) }
        return .init(state.rawValue, state == .running ? .yellow : state == .refused ? .red : nil)
    }

    /// Whether some zone has sent a stage and waits for `resume`.
    private var isWaitingForResume: Bool {
        record.state == .running
            && (record.progress?.groups ?? []).contains { group in
                if case .gated = group.phase { group.stage >= record.released } else { false }
            }
    }

    // MARK: Text

    func text(_ style: TextStyle) -> String {
        let head = Paint.bold.on("\(stored.app) \(PlainText.of(stored.id))", if: style.colours)
        let state = self.state
        var text = "\(head)  \(state.paint?.on(state.text, if: style.colours) ?? state.text)"
        text += "  created \(Timestamp(milliseconds: record.createdAt))"
        text += record.createdBy.map { " by \(PlainText.of($0))" } ?? ""
        text += pause.map { "\n\(PlainText.of($0, limit: 300))" } ?? ""
        text += record.reason.map { "\n\(PlainText.of($0, limit: 300))" } ?? ""
        if let nextRun { text += "\nnext run \(Timestamp(milliseconds: nextRun.milliseconds))" }
        if let firstPush { text += "\nfirst push \(Timestamp(milliseconds: firstPush.milliseconds))" }
        text += record.lastRun.map { "\nlast run \(PlainText.of($0.id))" } ?? ""
        if let merge { text += "\nmerge group \(merge.group), with \(merge.othersText)" }
        return text + "\n" + facts(style) + rounds(style) + (variants?.text(style) ?? "")
            + (breakdown?.text(style) ?? "") + groups(style)
    }

    private func facts(_ style: TextStyle) -> String {
        var table = FactTable()
        let counts = record.counts
        table.add("audience", counts[.audience, 1], always: true)
        table.add("accepted", counts.total(.accepted), always: true)
        table.add("merged", counts.total(.merged))
        table.add("capped", counts.total(.capped), .yellow)
        table.add("excluded", counts.total(.excluded), .yellow)
        table.add("unsendable", counts.total(.unsendable), .yellow)
        table.add("unreachable", unreachableDevices ?? 0, .yellow)
        table.add("done", record.done, .green)
        if let job {
            table.add("delivered", job.delivered, .green, always: true)
            table.add("failed", job.failed, .red, always: true)
            table.add("expired", job.expired, .yellow)
            table.add("cancelled", job.cancelled, .yellow)
            table.add("open", job.queued + job.inFlight + job.delayed)
        }
        let rate = record.rate.map { "rate limit \(Figures.perTime($0))\n" } ?? ""
        let remaining = remaining.map { "about \(Figures.time(.milliseconds($0))) remain\n" } ?? ""
        let unknown = unreachableFault.map { "unreachable unknown: \(PlainText.of($0, limit: 300))\n" } ?? ""
        return table.text(style) + unknown + rate + remaining
    }

    private func rounds(_ style: TextStyle) -> String {
        let counts = record.counts
        guard counts.rounds > 1 else { return "" }
        var table = Table([
            "ROUND": .right, "AUDIENCE": .right, "ACCEPTED": .right, "MERGED": .right, "CAPPED": .right,
            "EXCLUDED": .right, "UNSENDABLE": .right,
        ])
        for round in 1...min(counts.rounds, CampaignReport.mostRounds) {
            table.add(
                .init("\(round)"), .number(counts[.audience, round]), .number(counts[.accepted, round]),
                .number(counts[.merged, round]), .number(counts[.capped, round], .yellow),
                .number(counts[.excluded, round], .yellow), .number(counts[.unsendable, round], .yellow))
        }
        return "\n" + table.text(style)
    }

    /// The maximum numbers of lines of the tables.
    private static let (mostRounds, mostGroups) = (100, 40)

    private func groups(_ style: TextStyle) -> String {
        guard let groups = record.progress?.groups, record.state == .running else { return "" }
        var table = Table([
            "ZONE": .left, "ROUND": .right, "STAGE": .right, "NOW": .left, "SENT": .right, "OF": .right,
        ])
        for group in groups.prefix(Self.mostGroups) {
            table.add(
                .init(group.zone ?? "all"), .init("\(group.round)"), .init("\(group.stage + 1)"),
                .init(group.now), .number(group.handled), .number(group.counted))
        }
        let rest = groups.count - Self.mostGroups
        return "\n" + table.text(style)
            + (rest > 0 ? "and \(Figures.counted(rest, "more zone", "more zones")) (--json)\n" : "")
    }

    // MARK: JSON

    var json: JSONValue {
        let state = JSONValue.fields([
            "id": .string(stored.id), "app": .string(stored.app), "state": .text(record.state?.rawValue),
            "paused": .text(pause), "cancelling": .bool(isBeingCancelled),
            "next_run": .whole(nextRun?.milliseconds), "first_push": .whole(firstPush?.milliseconds),
            "last_run": .text(record.lastRun?.id),
            "waits_for_resume": .bool(isWaitingForResume),
            "created_at": .number(record.createdAt), "created_by": .text(record.createdBy),
            "started_at": .whole(record.startedAt), "finished_at": .whole(record.finishedAt),
            "reason": .text(record.reason), "remaining_ms": .whole(remaining),
            "rate": record.rate.map { .decimal($0) } ?? .null, "merge": merge?.json ?? .null,
        ])
        let parts = JSONValue.fields([
            "variants": variants?.json ?? .null, "breakdown": breakdown?.json ?? .null,
            "groups": .array((record.progress?.groups ?? []).map(\.json)), "job": job?.json ?? .null,
        ])
        return .object(state + countFields + parts)
    }

    private var unreachableDevices: Int? {
        if case .devices(let count) = unreachable { count } else { nil }
    }

    /// Why the number of unreachable devices is unknown.
    private var unreachableFault: String? {
        if case .unknown(let reason) = unreachable { reason } else { nil }
    }

    private var countFields: [JSONValue.Field] {
        let counts = record.counts
        let rounds = (1...max(1, min(counts.rounds, Self.mostRounds))).map { round in
            JSONValue.object(
                ([.audience] + CampaignCounts.Kind.results).map { kind in
                    .init(name: kind.rawValue, value: .number(counts[kind, round]))
                })
        }
        return JSONValue.fields([
            "audience": .number(counts[.audience, 1]), "accepted": .number(counts.total(.accepted)),
            "merged": .number(counts.total(.merged)), "capped": .number(counts.total(.capped)),
            "excluded": .number(counts.total(.excluded)), "unsendable": .number(counts.total(.unsendable)),
            "unreachable": .whole(unreachableDevices), "unreachable_unknown": .text(unreachableFault),
            "done": .number(record.done), "rounds": .array(rounds),
        ])
    }
}

extension GroupProgress {
    /// What the group does now, in few words.
    fileprivate var now: String {
        switch phase {
        case .waiting(let from): "waits until \(Timestamp(milliseconds: from.milliseconds))"
        case .sending: "sends"
        case .gated: "waits after stage \(stage + 1)"
        case .finished: "finished"
        }
    }

    fileprivate var json: JSONValue {
        let (state, time): (String, Int64?) =
            switch phase {
            case .waiting(let from): ("waiting", from.milliseconds)
            case .sending: ("sending", nil)
            case .gated(let since): ("between_stages", since.milliseconds)
            case .finished: ("finished", nil)
            }
        return .object([
            "zone": .text(zone), "state": .string(state), "at": .whole(time), "round": .number(round),
            "rounds": .number(rounds), "stage": .number(stage + 1), "handled": .number(handled),
            "counted": .number(counted),
        ])
    }
}

extension FarmClient {
    /// Reads what a report needs beside the campaign's record.
    func report(of stored: StoredCampaign) async throws(CommandFailure) -> CampaignReport {
        let isOpen = stored.record.state.map { !$0.isFinal && $0 != .draft } ?? false
        let pause = try await isOpen ? pauses(.jobs, stored.app).first { $0.text == stored.id } : nil
        let cancels = try await isOpen ? pauses(.cancels, stored.app) : []
        var job = try await stored.record.state == .draft ? nil : jobRecord(stored.id, stored.app)
        // A producer may submit a job with the id of a campaign that has ended.
        if let created = job?.createdAt, let ended = stored.record.finishedAt, created > ended { job = nil }
        var report = CampaignReport(
            stored: stored, job: job, pause: pause?.words,
            isBeingCancelled: cancels.contains { $0.text == stored.id })
        if stored.record.state == .running, pause == nil, stored.record.progress != nil {
            report.remaining = stored.remaining(
                at: UTCTime(milliseconds: try await clock().clampedMilliseconds))
        }
        if stored.record.state == .scheduled, let runs = try stored.runs() {
            report.nextRun = runs.next(after: UTCTime(milliseconds: try await clock().clampedMilliseconds))
        } else if stored.record.state == .scheduled {
            let lines = try await hosts().filter { !$0.isGone }.flatMap(\.campaigns)
            let line = lines.first { $0.app == stored.app && $0.campaign == stored.id }
            report.firstPush = line?.next.map { UTCTime(milliseconds: Int64($0)) }
        }
        return report
    }
}
