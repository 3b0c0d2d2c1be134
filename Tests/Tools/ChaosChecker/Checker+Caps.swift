/// Checks campaigns of a category with a cap of one push: each device must get exactly one push of all these campaigns, and the
/// counts of capped devices must be exact.
extension Checker {
    mutating func checkCapped(_ campaign: CampaignNote) {
        let rounds = deliveries(of: campaign)
        if rounds.count > 1 {
            verdict.complain(
                .unexpected,
                "campaign \(campaign.id) has one round, and sent \(rounds.count) different payloads")
        }
        let delivered = rounds.first ?? [:]
        verdict.pushes += delivered.count
        verdict.delivered += delivered.count
        let duplicates = delivered.values.reduce(0) { $0 + $1 - 1 }
        checkDuplicates(duplicates, of: [campaign], "campaign \(campaign.id)")
        checkJobRecord(campaign, delivered.count)
        let capped = campaign.tokens.count { delivered[$0] == nil }
        checkCounts(
            campaign, accepted: [delivered.count...delivered.count],
            capped: capped...capped + campaign.leaving.count)
    }

    /// Checks which devices got the push of a category.
    mutating func checkCategories() {
        var categories: [String: [CampaignNote]] = [:]
        for campaign in evidence.campaigns {
            if case .capped(let category) = campaign.kind {
                categories[category, default: []].append(campaign)
            }
        }
        for (category, campaigns) in categories.sorted(by: { $0.key < $1.key }) {
            let delivered = campaigns.map { Set(deliveries(of: $0).first?.keys.map { $0 } ?? []) }
            for token in Set(campaigns.flatMap(\.audience)).sorted() {
                let pushes = delivered.count { $0.contains(token) }
                if pushes > 1 {
                    verdict.complain(
                        .duplicated,
                        "token \(token) got \(pushes) pushes of category \(category), whose cap is 1")
                }
                guard pushes == 0, campaigns.allSatisfy({ $0.tokens.contains(token) }) else { continue }
                verdict.lost += 1
                verdict.complain(.lost, "token \(token) in all campaigns of category \(category)")
            }
        }
    }
}
