import Campaigns
import EventLoop
import RedisClient
import Registry
import Scheduling
import Segments
import StoreProtocol

/// Plans a campaign from the devices that its app stores now.
@Loop struct CampaignPlanner {
    /// A plan, and the devices that it is for.
    struct Outcome: Sendable {
        let plan: CampaignPlan
        let audience: PlanAudience
        /// The number of devices of each platform. Devices without a platform are not in it.
        let platforms: [String: Int]
        /// All devices of the app that can get pushes; nil if the audience is an uploaded list.
        let allDevices: Int?
        /// The pushes a second that the app may send; nil without a limit.
        let rateLimit: Double?
        /// The devices that limits exclude now; nil if the campaign has no limits for a device.
        let limited: CampaignLimitCounter.Counts?
        /// The devices that background pushes may not reach; nil if the campaign sends none to stored devices.
        let unreachable: Int?
    }

    let client: FarmClient
    let app: String
    let zones: CampaignZones

    /// Computes the plan.
    ///
    /// - Parameter list: the list of the audience; nil to read the list from Redis.
    /// - Throws: a failure with the arithmetic, if the campaign does not fit into its windows.
    func plan(
        _ campaign: Campaign, rate: Double? = nil, list: UploadedList? = nil
    ) async throws(CommandFailure) -> Outcome {
        let counted: Counted
        switch campaign.audience {
        case .expression(let expression): counted = try await count(campaign, expression)
        case .saved(let name):
            counted = try await count(campaign, try await ChosenSegment.find(name, app, client).expression)
        case .list(let name): counted = try await count(list: name, known: list)
        }
        let limit = try await rateLimit(rate)
        let now = try await now()
        do throws(PlanRefusal) {
            let plan = try CampaignPlan(
                counted.audience, campaign.schedule, defaultZone: campaign.defaultZone,
                zones: { [zones] in zones.rules($0) }, now: now, rateLimit: limit)
            return Outcome(
                plan: plan, audience: counted.audience, platforms: counted.platforms,
                allDevices: counted.allDevices, rateLimit: limit, limited: counted.limited,
                unreachable: campaign.isBackground ? counted.unreachable : nil)
        } catch {
            throw .failed("the campaign cannot be sent as planned: \(error.description)")
        }
    }

    private struct Counted {
        let audience: PlanAudience
        var platforms: [String: Int] = [:]
        var allDevices: Int?
        var limited: CampaignLimitCounter.Counts?
        var unreachable: Int?
    }

    private func count(list name: String, known: UploadedList?) async throws(CommandFailure) -> Counted {
        let list: UploadedList
        if let known {
            list = known
        } else {
            list = try await ListStore(client: client, app: app).list(name)
            guard list.state == .ready else {
                throw .failed("the upload of the list \(PlainText.of(name, limit: 64)) is not finished")
            }
        }
        return Counted(audience: PlanAudience(zones: list.rowsByZone, withoutZone: list.rowsWithoutZone))
    }

    private func count(
        _ campaign: Campaign, _ expression: SegmentExpression
    ) async throws(CommandFailure) -> Counted {
        let reader = try await client.registry(of: app)
        let today = try await client.today()
        let states = try await client.read { () throws(StoreError) in try await reader.partitions() }
        let names = Names(states)
        let parts = names.zones.map { ("zone", $0) } + names.platforms.map { ("platform", $0) }
        let terms = parts.map { part in
            SegmentTerm.value(part.0 == "zone" ? .zone : .platform, part.1)
        }
        let expressions =
            [expression, .all, .and([expression, .unreachable])]
            + terms.map { SegmentExpression.and([expression, .term($0)]) }
        let counts = try await client.read { () throws(StoreError) in
            try await reader.counts(of: expressions, today: today, states)
        }
        var (byZone, byPlatform): ([String: Int], [String: Int]) = ([:], [:])
        for ((kind, name), count) in zip(parts, counts.dropFirst(3)) where count > 0 {
            if kind == "zone" { byZone[name] = count } else { byPlatform[name] = count }
        }
        let audience = PlanAudience(
            zones: byZone, withoutZone: counts[0] - byZone.values.reduce(0, +))
        let limited = try await CampaignLimitCounter(
            client: client, app: app, campaign: campaign, zones: zones, now: try await now(), today: today
        ).count(expression, names: names.zones, reader, states)
        return Counted(
            audience: audience, platforms: byPlatform, allDevices: counts[1], limited: limited,
            unreachable: counts[2])
    }

    private func now() async throws(CommandFailure) -> UTCTime {
        UTCTime(milliseconds: try await client.clock().clampedMilliseconds)
    }

    /// The most pushes a second: the least of the app's rate and the campaign's rate.
    private func rateLimit(_ rate: Double?) async throws(CommandFailure) -> Double? {
        let desired = try await client.call(ReadAppState(), app).rate
        let configured = client.configuration.app(named: app)?.budget.maxRate
        return [rate, DesiredRate.limit(desired, configured: configured)].compactMap(\.self).min()
    }

    /// The zones and the platforms that stored devices have had.
    private struct Names {
        var zones: [String] = []
        var platforms: [String] = []

        init(_ states: [PartitionState]) {
            var (zones, platforms): (Set<String>, Set<String>) = ([], [])
            for (name, _) in states.lazy.flatMap(\.names.all) {
                if let zone = Self.value(of: name.text, after: "zone:") { zones.insert(zone) }
                if let platform = Self.value(of: name.text, after: "platform:") { platforms.insert(platform) }
            }
            (self.zones, self.platforms) = (zones.sorted(), platforms.sorted())
        }

        private static func value(of name: String, after prefix: String) -> String? {
            guard name.utf8.starts(with: prefix.utf8) else { return nil }
            return String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
        }
    }
}
