/// Checks merged pushes: each device must get the content of each campaign once in each round, and two pushes to a device must keep
/// their distance.
extension Checker {
    mutating func checkMerge(_ merge: MergeNote) {
        let campaigns = evidence.campaigns.filter { merge.campaigns.contains($0.id) }
        let audience = campaigns.reduce(into: Set<String>()) { $0.formUnion($1.audience) }
        // For each campaign, how often each token got its content.
        var contents: [String: [String: Int]] = [:]
        var deliveries = 0
        for note in evidence.gateway
        where note.job == merge.id && note.status == 200 && audience.contains(note.token) {
            deliveries += 1
            guard let found = merge.payloads[note.payload] else {
                verdict.complain(
                    .unexpected, "token \(note.token) got another payload of merge group \(merge.id)")
                continue
            }
            for campaign in found { contents[campaign, default: [:]][note.token, default: 0] += 1 }
        }
        let accepted = campaigns.reduce(0) { $0 + $1.accepted }
        verdict.pushes += accepted
        verdict.delivered += accepted
        if deliveries < accepted {
            verdict.complain(
                .lost, "\(accepted - deliveries) pushes of merge group \(merge.id), which its records count")
        }
        checkDuplicates(deliveries - accepted, of: campaigns, "merge group \(merge.id)")
        for campaign in campaigns {
            checkMerged(campaign, contents[campaign.id] ?? [:], duplicates: max(0, deliveries - accepted))
        }
        checkSlots(merge, accepted)
    }

    /// - Parameters:
    ///   - contents: how often each token got the campaign's content.
    ///   - duplicates: how many of the group's pushes were delivered twice.
    private mutating func checkMerged(_ campaign: CampaignNote, _ contents: [String: Int], duplicates: Int) {
        for token in campaign.tokens {
            let count = contents[token] ?? 0
            guard count < campaign.rounds else { continue }
            verdict.lost += 1
            verdict.complain(
                .lost,
                "token \(token) got the content of campaign \(campaign.id) \(count) times in \(campaign.rounds) rounds"
            )
        }
        let all = campaign.tokens.count + campaign.leaving.count
        checkJobRecord(campaign, campaign.accepted)
        checkCounts(
            campaign, accepted: Array(repeating: 0...all, count: campaign.rounds), merged: 0...all)
        var handled = 0
        for round in 1...campaign.rounds {
            let count = campaign.count("accepted:\(round)") + campaign.count("merged:\(round)")
            handled += count
            if !(campaign.tokens.count...all).contains(count) {
                verdict.complain(
                    .accounting,
                    "campaign \(campaign.id) counts \(count) devices with its content in round \(round)")
            }
        }
        let delivered = contents.values.reduce(0, +)
        if !(delivered - duplicates...delivered).contains(handled) {
            verdict.complain(
                .accounting,
                "campaign \(campaign.id) counts \(handled) devices with its content, and the gateway \(delivered)"
            )
        }
    }

    private mutating func checkSlots(_ merge: MergeNote, _ accepted: Int) {
        let pushes = merge.slots.reduce(0) { $0 + $1.count }
        if pushes != accepted {
            verdict.complain(
                .accounting,
                "merge group \(merge.id) has \(pushes) pushes in its slots, and \(accepted) in its records")
        }
        for slots in merge.slots {
            for (one, next) in zip(slots, slots.dropFirst()) where (next - one) * merge.slotLength < merge.gap
            {
                verdict.complain(
                    .unexpected,
                    "a device got two pushes of merge group \(merge.id) within \(next - one) slots, not \(merge.gap) ms apart"
                )
            }
        }
    }
}
