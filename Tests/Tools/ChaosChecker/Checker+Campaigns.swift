/// Checks campaigns: in each round, each device of the audience must get one push, and the counts of all records must be exact.
extension Checker {
    mutating func checkCampaigns() {
        for campaign in evidence.campaigns {
            switch campaign.kind {
            case .rounds: checkRounds(campaign)
            case .capped: checkCapped(campaign)
            case .variants(let names): checkVariants(campaign, names)
            case .merged: break
            }
            checkEvents(campaign)
        }
        checkCategories()
        for merge in evidence.merges { checkMerge(merge) }
    }

    /// The record of a campaign's job at the end; empty if there is none.
    func jobRecord(of campaign: CampaignNote) -> [String: String] {
        evidence.notes.last?.jobRecords?[campaign.id] ?? [:]
    }

    private mutating func checkRounds(_ campaign: CampaignNote) {
        let rounds = deliveries(of: campaign)
        checkDeliveries(campaign, rounds)
        checkLeavingDevices(campaign, rounds)
        checkJobRecord(campaign, rounds.reduce(0) { $0 + $1.count })
        checkCounts(campaign, accepted: rounds.map { $0.count...$0.count })
    }

    /// For each round, the number of deliveries to each token. The rounds have different payloads, and are in the order of their
    /// first deliveries.
    func deliveries(of campaign: CampaignNote) -> [[String: Int]] {
        var payloads: [String] = []
        var rounds: [[String: Int]] = []
        let audience = campaign.audience
        for note in evidence.gateway
        where note.job == campaign.id && note.status == 200 && audience.contains(note.token) {
            let round = payloads.firstIndex(of: note.payload) ?? payloads.count
            if round == payloads.count {
                payloads.append(note.payload)
                rounds.append([:])
            }
            rounds[round][note.token, default: 0] += 1
        }
        return rounds
    }

    private mutating func checkDeliveries(_ campaign: CampaignNote, _ rounds: [[String: Int]]) {
        if rounds.count != campaign.rounds {
            verdict.complain(
                .lost,
                "campaign \(campaign.id) has \(campaign.rounds) rounds, and sent \(rounds.count) different payloads"
            )
        }
        var duplicates = 0
        verdict.pushes += campaign.rounds * campaign.tokens.count
        for deliveries in rounds {
            let missing = campaign.tokens.filter { deliveries[$0] == nil }
            for token in missing {
                verdict.lost += 1
                verdict.complain(.lost, "token \(token) in a round of campaign \(campaign.id)")
            }
            verdict.pushes += deliveries.count + missing.count - campaign.tokens.count
            verdict.delivered += deliveries.count
            duplicates += deliveries.values.reduce(0) { $0 + $1 - 1 }
        }
        checkDuplicates(duplicates, of: [campaign], "campaign \(campaign.id)")
    }

    /// Compares pushes that were delivered more than once with the number that the campaigns' job records allow.
    mutating func checkDuplicates(_ duplicates: Int, of campaigns: [CampaignNote], _ name: String) {
        let maybe = campaigns.reduce(0) {
            $0 + (jobRecord(of: $1)["maybe_duplicated"].flatMap { Int($0) } ?? 0)
        }
        verdict.duplicates += max(0, duplicates)
        verdict.maybeDuplicated += maybe
        if duplicates > maybe, expectation.rollBacks.isEmpty {
            verdict.complain(.duplicated, "\(duplicates) of \(name), whose job record allows \(maybe)")
        }
    }

    private mutating func checkLeavingDevices(_ campaign: CampaignNote, _ rounds: [[String: Int]]) {
        for (before, later) in zip(rounds, rounds.dropFirst()) {
            for token in campaign.done where later[token] != nil {
                verdict.complain(
                    .unexpected, "token \(token) of a done device in a later round of campaign \(campaign.id)"
                )
            }
            for token in campaign.leaving where before[token] == nil && later[token] != nil {
                verdict.complain(
                    .lost, "token \(token) in a round of campaign \(campaign.id), and a later round has it")
            }
        }
    }

    mutating func checkJobRecord(_ campaign: CampaignNote, _ pushes: Int) {
        let jobRecord = jobRecord(of: campaign)
        guard jobRecord["state"] == "finished", jobRecord["adding"] == nil else {
            verdict.complain(.accounting, "the job of campaign \(campaign.id) is not finished")
            return
        }
        for field in ["submitted", "accepted", "delivered"] where jobRecord[field] ?? "0" != "\(pushes)" {
            verdict.complain(
                .accounting,
                "the job of campaign \(campaign.id) has \(field) \(jobRecord[field] ?? "nothing") instead of \(pushes)"
            )
        }
    }

    /// - Parameters:
    ///   - accepted: for each round, how many pushes may be accepted.
    ///   - capped: how many devices may be capped in a round.
    ///   - merged: how many devices may have the content in another campaign's push in a round.
    mutating func checkCounts(
        _ campaign: CampaignNote, accepted: [ClosedRange<Int>], capped: ClosedRange<Int> = 0...0,
        merged: ClosedRange<Int> = 0...0
    ) {
        func complain(_ text: String) {
            verdict.complain(.accounting, "campaign \(campaign.id) \(text)")
        }
        if campaign.record["state"] != "finished" {
            complain("is \(campaign.record["state"] ?? "missing") at the end")
        }
        let (devices, leaving) = (campaign.tokens.count, campaign.leaving.count)
        var expected = [
            "accepted": accepted.reduce(0...0) {
                $0.lowerBound + $1.lowerBound...$0.upperBound + $1.upperBound
            }
        ]
        // A device that is reported as done after the second round began counts as leaving.
        expected["done"] = campaign.done.count...campaign.done.count + leaving
        for round in 1...campaign.rounds {
            let others = leaving + (round == 1 ? campaign.done.count : 0)
            expected["audience:\(round)"] = devices...devices + others
            expected["accepted:\(round)"] = round > accepted.count ? 0...0 : accepted[round - 1]
            // A device that left after the audience was counted is excluded, or its record is missing when a step reads it.
            expected["excluded:\(round)"] = 0...others
            expected["unsendable:\(round)"] = 0...leaving
            expected["merged:\(round)"] = merged
            expected["capped:\(round)"] = capped
            let handled = ["accepted", "merged", "capped", "excluded", "unsendable"].reduce(0) {
                $0 + campaign.count("\($1):\(round)")
            }
            if campaign.count("audience:\(round)") != handled {
                complain(
                    "handled \(handled) devices in round \(round), which is not the number of its audience")
            }
        }
        expected["accepted:\(campaign.rounds + 1)"] = 0...0
        for (field, count) in expected.sorted(by: { $0.key < $1.key }) {
            let found = campaign.record[field] ?? "0"
            if Int(found).map(count.contains) == true { continue }
            let wanted =
                count.lowerBound == count.upperBound
                ? "\(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
            complain("has \(field) \(found) instead of \(wanted)")
        }
    }

    private mutating func checkEvents(_ campaign: CampaignNote) {
        for type in ["campaign.started", "campaign.finished"] {
            let count = evidence.events.count { $0.type == type && $0.fields["campaign"] == campaign.id }
            if count != 1 { verdict.complain(.events, "\(count) \(type) for campaign \(campaign.id)") }
        }
    }
}
