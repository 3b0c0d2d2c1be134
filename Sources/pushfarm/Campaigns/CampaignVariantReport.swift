import Campaigns
import EventLoop
import StoreProtocol
import Variants

/// The results of a campaign's variants, as a table for people or as JSON.
struct CampaignVariantReport: Sendable {
    let id: String
    let variants: CampaignVariants
    /// The results of the campaign.
    let tally: RewardTally
    /// The results of all campaigns of the series; nil if the campaign learns only from itself.
    let series: RewardTally?
    /// The number of the campaign's next step.
    let step: Int

    /// The shares that the next step of the campaign has after the exploration.
    private var shares: [Double] {
        variants.policy.shares(
            isExploring: false, tallies: (series ?? tally).tallies,
            seed: LearningPolicy.seed(campaign: id, step: step))
    }

    func text(_ style: TextStyle) -> String {
        var table = Table([
            "VARIANT": .left, "PULLS": .right, "REWARDS": .right, "MEAN": .right, "95 %": .right,
            "SHARE": .right,
        ])
        for (entry, share) in zip(tally.variants, shares) {
            Self.add(entry, named: entry.name, share: "\(Self.percent(share)) %", to: &table)
        }
        if variants.holdout > 0 { Self.add(tally.holdout, named: "(holdout)", share: "-", to: &table) }
        return "\n" + table.text(style)
    }

    private static func add(
        _ entry: RewardTally.Entry, named name: String, share: String, to table: inout Table
    ) {
        table.add(
            .init(name), .number(entry.pulls),
            .init(number(entry.rewards, digits: entry.hasFraction ? 3 : 0)),
            .init(number(entry.estimate, digits: 3)),
            .init("\(number(entry.interval.low, digits: 3))–\(number(entry.interval.high, digits: 3))"),
            .init(share))
    }

    private static func percent(_ share: Double) -> String { number(share * 100, digits: 1) }

    /// A number of at least 0 with this number of digits after the point.
    private static func number(_ value: Double, digits: Int) -> String {
        let unit: Int64 = digits == 3 ? 1000 : digits == 1 ? 10 : 1
        let whole = Int64(clamping: (value * Double(unit)).rounded())
        guard unit > 1 else { return Figures.grouped(whole) }
        let rest = "\(whole % unit + unit)".dropFirst()
        return "\(Figures.grouped(whole / unit)).\(rest)"
    }

    var json: JSONValue {
        .object([
            "variants": .array(
                zip(tally.variants, shares).map { entry, share in
                    .object(
                        [.init(name: "name", value: .string(entry.name))] + Self.fields(entry)
                            + [.init(name: "share", value: .decimal(share))])
                }),
            "holdout": .object(Self.fields(tally.holdout)),
        ])
    }

    private static func fields(_ entry: RewardTally.Entry) -> [JSONValue.Field] {
        JSONValue.fields([
            "pulls": .number(entry.pulls), "rewards": .decimal(entry.rewards),
            "mean": .decimal(entry.estimate), "low": .decimal(entry.interval.low),
            "high": .decimal(entry.interval.high),
        ])
    }
}

extension RewardTally.Entry {
    /// Whether the sum of the rewards is not a whole number.
    fileprivate var hasFraction: Bool { thousandths % 1000 != 0 }
}

extension FarmClient {
    /// Reads the results of a campaign's variants; nil for a campaign without variants.
    func variantReport(of stored: StoredCampaign) async throws(CommandFailure) -> CampaignVariantReport? {
        guard let variants = try stored.variants() else { return nil }
        var series: RewardTally?
        if let name = stored.record.resultsSeries {
            series = try await results(ofSeries: name, variants, stored.app)
        }
        return CampaignVariantReport(
            id: stored.id, variants: variants, tally: stored.record.tally(of: variants), series: series,
            step: stored.record.step + 1)
    }

    /// Reads the results of the variants in a series.
    func results(
        ofSeries series: String, _ variants: CampaignVariants, _ app: String
    ) async throws(CommandFailure) -> RewardTally {
        let fields = RewardTally.fields(ofVariants: variants.names)
        let values = try await call(ReadVariantNumbers(campaign: "", series: series, fields: fields), app)
        let known = zip(fields, values).compactMap { field, value in value.map { (field, $0) } }
        return RewardTally(
            variants: variants.names, fields: Dictionary(known, uniquingKeysWith: { first, _ in first }))
    }
}

extension StoredCampaign {
    /// The variants of the definition; nil for a campaign without variants.
    fileprivate func variants() throws(CommandFailure) -> CampaignVariants? {
        // Most campaigns have no variants, and their definitions need no time zones here.
        guard record.definition.contains("\"variants\"".utf8) else { return nil }
        let zones = CampaignZones()
        try zones.check()
        return try definition(zones).variants
    }
}
