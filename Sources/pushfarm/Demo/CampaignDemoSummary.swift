import Campaigns
import StoreProtocol

/// The counts of `demo --campaign`: the campaign's record, its job record, and the counts of the simulated gateway.
struct CampaignDemoSummary: DemoResult {
    let load: CampaignDemoLoad
    var gateway: GatewayCount
    /// Nil if the farm did not create the campaign.
    var campaign: CampaignRecord?
    var job: JobRecord?
    var workersKilled = 0
    var workersToKill = 0
    var intakesKilled = 0
    var time: Duration = .zero

    init(load: CampaignDemoLoad, gateway: GatewayCount) { (self.load, self.gateway) = (load, gateway) }

    private var counts: CampaignCounts { campaign?.counts ?? CampaignCounts() }
    private var good: Int { load.audience.all - load.audience.bad }
    /// Good devices of the audience that never got a push.
    var lost: Int { good - gateway.devices }
    var duplicated: Int { gateway.accepted - gateway.devices }
    var rate: Int { Figures.rate(job?.settled ?? 0, in: time) }

    var faults: [String] {
        guard let campaign, let job else { return ["the farm did not create the campaign"] }
        var faults: [String] = []
        func check(_ isRight: Bool, _ fault: String) { if !isRight { faults.append(fault) } }
        let (counts, audience) = (campaign.counts, load.audience)
        check(campaign.state == .finished, "the campaign is \(campaign.state?.rawValue ?? "unreadable")")
        check(job.state == .finished, "the campaign's job is not finished")
        check(
            counts[.audience, 1] == audience.all,
            "\(counts[.audience, 1]) devices in the audience, \(audience.all) expected")
        let handled = counts.handled(ofRound: 1)
        check(
            handled == counts[.audience, 1],
            "\(handled) devices handled, but \(counts[.audience, 1]) in the audience")
        check(
            counts[.accepted, 1] == job.accepted,
            "\(counts[.accepted, 1]) pushes accepted by the campaign, \(job.accepted) by its job")
        check(job.delivered == good, "\(job.delivered) delivered, \(good) expected")
        check(job.failed == audience.bad, "\(job.failed) failed, \(audience.bad) expected")
        check(lost == 0, "\(lost) devices got no push")
        check(
            duplicated == gateway.repeated,
            "\(duplicated) duplicated, but \(gateway.repeated) with the same apns-id")
        check(
            duplicated <= job.maybeDuplicated,
            "\(duplicated) duplicated, but only \(job.maybeDuplicated) are recorded")
        return faults
    }

    var json: JSONValue {
        .object([
            "ok": .bool(faults.isEmpty), "devices": .number(load.devices),
            "audience": .number(counts[.audience, 1]), "accepted": .number(counts[.accepted, 1]),
            "delivered": .number(job?.delivered ?? 0), "failed": .number(job?.failed ?? 0),
            "lost": .number(lost), "duplicated": .number(duplicated),
            "maybe_duplicated": .number(job?.maybeDuplicated ?? 0),
            "gateway_accepted": .number(gateway.accepted), "workers_killed": .number(workersKilled),
            "intakes_killed": .number(intakesKilled), "milliseconds": .number(time.clampedMilliseconds),
            "rate": .number(rate), "faults": .strings(faults),
        ])
    }

    var table: FactTable {
        var table = FactTable()
        table.add(
            "devices", load.devices, note: "in \(CampaignDemoLoad.zones.count) time zones", always: true)
        table.add("audience", counts[.audience, 1], note: CampaignDemoLoad.segment.expression, always: true)
        table.add("delivered", job?.delivered ?? 0, .green, always: true)
        table.add("failed", job?.failed ?? 0, note: "bad tokens", always: true)
        table.add("accepted by the gateway", gateway.accepted, note: "its own count", always: true)
        table.add("lost", lost, lost == 0 ? .green : .red, always: true)
        table.add("duplicated", duplicated, always: true)
        if workersToKill > 0 {
            let isShort = workersKilled < workersToKill
            table.add(
                "workers killed", workersKilled,
                note: isShort ? "of \(workersToKill) wanted: the run was too short" : "", always: true)
            table.add("intakes killed", intakesKilled, always: true)
        }
        table.add("pushes a second", rate, note: "in \(Figures.time(time))", always: true)
        return table
    }
}
