/// Checks campaigns with variants: each device must get the same variant in all rounds, and the results of the variants must be
/// exact.
extension Checker {
    /// - Parameter names: the names of the variants by the hashes of their payloads.
    mutating func checkVariants(_ campaign: CampaignNote, _ names: [String: String]) {
        let audience = campaign.audience
        // For each token, the number of deliveries of each variant.
        var delivered: [String: [String: Int]] = [:]
        for note in evidence.gateway
        where note.job == campaign.id && note.status == 200 && audience.contains(note.token) {
            let name = names[note.payload] ?? "another payload"
            delivered[note.token, default: [:]][name, default: 0] += 1
        }
        checkAssignments(campaign, delivered)
        checkResults(campaign, delivered, names.values.sorted())
        let accepted = campaign.accepted
        verdict.pushes += accepted
        verdict.delivered += accepted
        let deliveries = delivered.values.reduce(0) { $0 + $1.values.reduce(0, +) }
        if deliveries < accepted {
            verdict.complain(
                .lost, "\(accepted - deliveries) pushes of campaign \(campaign.id), which its record counts")
        }
        checkDuplicates(deliveries - accepted, of: [campaign], "campaign \(campaign.id)")
        checkJobRecord(campaign, accepted)
        let devices = campaign.tokens.count
        checkCounts(
            campaign,
            accepted: Array(repeating: devices...devices + campaign.leaving.count, count: campaign.rounds))
    }

    private mutating func checkAssignments(_ campaign: CampaignNote, _ delivered: [String: [String: Int]]) {
        for (token, variants) in delivered.sorted(by: { $0.key < $1.key }) where variants.count > 1 {
            let names = variants.keys.sorted().joined(separator: " and ")
            verdict.complain(
                .unexpected, "token \(token) got the variants \(names) of campaign \(campaign.id)")
        }
        for token in campaign.tokens {
            let pushes = delivered[token]?.values.reduce(0, +) ?? 0
            guard pushes < campaign.rounds else { continue }
            verdict.lost += 1
            verdict.complain(
                .lost,
                "token \(token) got \(pushes) pushes in \(campaign.rounds) rounds of campaign \(campaign.id)")
        }
    }

    private mutating func checkResults(
        _ campaign: CampaignNote, _ delivered: [String: [String: Int]], _ names: [String]
    ) {
        var expected = ["rewarded": campaign.rewarded.count]
        for name in names {
            let tokens = delivered.filter { $0.value[name] != nil }.keys
            expected["pulls:\(name)"] = tokens.count
            // Rewards are counted in thousandths.
            expected["rewards:\(name)"] = 1000 * campaign.rewarded.count { delivered[$0]?[name] != nil }
        }
        for (field, count) in expected.sorted(by: { $0.key < $1.key }) where campaign.count(field) != count {
            verdict.complain(
                .accounting,
                "campaign \(campaign.id) has \(field) \(campaign.count(field)) instead of \(count)")
        }
    }
}
