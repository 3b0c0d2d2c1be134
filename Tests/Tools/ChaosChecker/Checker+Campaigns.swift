/// Checks campaigns: in each round, each device of the audience must get one push, and the counts of all records must be exact.
extension Checker {
    mutating func checkCampaigns() {
        for campaign in evidence.campaigns {
            let jobRecord = evidence.notes.last?.jobRecords?[campaign.id] ?? [:]
            let rounds = deliveries(of: campaign)
            checkDeliveries(campaign, rounds, jobRecord)
            checkLeavingDevices(campaign, rounds)
            checkJobRecord(campaign, rounds.reduce(0) { $0 + $1.count }, jobRecord)
            checkCounts(campaign, rounds.map(\.count))
            checkEvents(campaign)
        }
    }

    /// For each round, the number of deliveries to each token. The rounds have different payloads, and are in the order of their
    /// first deliveries.
    private func deliveries(of campaign: CampaignNote) -> [[String: Int]] {
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

    private mutating func checkDeliveries(
        _ campaign: CampaignNote, _ rounds: [[String: Int]], _ jobRecord: [String: String]
    ) {
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
        let maybe = jobRecord["maybe_duplicated"].flatMap { Int($0) } ?? 0
        verdict.duplicates += duplicates
        verdict.maybeDuplicated += maybe
        if duplicates > maybe, expectation.rollBacks.isEmpty {
            verdict.complain(
                .duplicated, "\(duplicates) of campaign \(campaign.id), whose job record allows \(maybe)")
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

    private mutating func checkJobRecord(
        _ campaign: CampaignNote, _ pushes: Int, _ jobRecord: [String: String]
    ) {
        guard jobRecord["state"] == "finished", jobRecord["adding"] == nil else {
            verdict.complain(.accounting, "the job of campaign \(campaign.id) is not finished")
            return
        }
        for field in ["submitted", "accepted", "delivered"] where jobRecord[field] != "\(pushes)" {
            verdict.complain(
                .accounting,
                "the job of campaign \(campaign.id) has \(field) \(jobRecord[field] ?? "nothing") instead of \(pushes)"
            )
        }
    }

    /// - Parameter pushes: for each round, the number of devices that got a push.
    private mutating func checkCounts(_ campaign: CampaignNote, _ pushes: [Int]) {
        func complain(_ text: String) {
            verdict.complain(.accounting, "campaign \(campaign.id) \(text)")
        }
        if campaign.record["state"] != "finished" {
            complain("is \(campaign.record["state"] ?? "missing") at the end")
        }
        func number(_ text: String?) -> Int { text.flatMap { Int($0) } ?? 0 }
        func exactly(_ number: Int) -> ClosedRange<Int> { number...number }
        let (devices, leaving) = (campaign.tokens.count, campaign.leaving.count)
        var expected = ["accepted": exactly(pushes.reduce(0, +))]
        // A device that is reported as done after the second round began counts as leaving.
        expected["done"] = campaign.done.count...campaign.done.count + leaving
        for round in 1...campaign.rounds {
            let others = leaving + (round == 1 ? campaign.done.count : 0)
            expected["audience:\(round)"] = devices...devices + others
            expected["accepted:\(round)"] = exactly(round > pushes.count ? 0 : pushes[round - 1])
            // A device that left after the audience was counted is excluded, or its record is missing when a step reads it.
            expected["excluded:\(round)"] = 0...others
            expected["unsendable:\(round)"] = 0...leaving
            for field in ["merged", "capped"] { expected["\(field):\(round)"] = exactly(0) }
            let handled = ["accepted", "excluded", "unsendable"].reduce(0) {
                $0 + number(campaign.record["\($1):\(round)"])
            }
            if number(campaign.record["audience:\(round)"]) != handled {
                complain(
                    "handled \(handled) devices in round \(round), which is not the number of its audience")
            }
        }
        expected["accepted:\(campaign.rounds + 1)"] = exactly(0)
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
