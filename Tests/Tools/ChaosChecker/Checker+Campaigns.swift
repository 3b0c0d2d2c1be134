/// Checks campaigns: in each round, each device must get one push, and the counts of all records must be exact.
extension Checker {
    mutating func checkCampaigns() {
        for campaign in evidence.campaigns {
            let jobRecord = evidence.notes.last?.jobRecords?[campaign.id] ?? [:]
            checkDeliveries(campaign, jobRecord)
            checkJobRecord(campaign, jobRecord)
            checkCounts(campaign)
            checkEvents(campaign)
        }
    }

    private mutating func checkDeliveries(_ campaign: CampaignNote, _ jobRecord: [String: String]) {
        // For each payload, the number of deliveries to each token.
        var rounds: [String: [String: Int]] = [:]
        for note in evidence.gateway where note.job == campaign.id && note.status == 200 {
            rounds[note.payload, default: [:]][note.token, default: 0] += 1
        }
        if rounds.count != campaign.rounds {
            verdict.complain(
                .lost,
                "campaign \(campaign.id) has \(campaign.rounds) rounds, and sent \(rounds.count) different payloads"
            )
        }
        var duplicates = 0
        for deliveries in rounds.values {
            for token in campaign.tokens where deliveries[token] == nil {
                verdict.lost += 1
                verdict.complain(.lost, "token \(token) in a round of campaign \(campaign.id)")
            }
            verdict.delivered += deliveries.count
            duplicates += deliveries.values.reduce(0) { $0 + $1 - 1 }
        }
        let maybe = jobRecord["maybe_duplicated"].flatMap { Int($0) } ?? 0
        verdict.pushes += campaign.rounds * campaign.tokens.count
        verdict.duplicates += duplicates
        verdict.maybeDuplicated += maybe
        if duplicates > maybe, expectation.rollBacks.isEmpty {
            verdict.complain(
                .duplicated, "\(duplicates) of campaign \(campaign.id), whose job record allows \(maybe)")
        }
    }

    private mutating func checkJobRecord(_ campaign: CampaignNote, _ jobRecord: [String: String]) {
        guard jobRecord["state"] == "finished", jobRecord["adding"] == nil else {
            verdict.complain(.accounting, "the job of campaign \(campaign.id) is not finished")
            return
        }
        let pushes = "\(campaign.rounds * campaign.tokens.count)"
        for field in ["submitted", "accepted", "delivered"] where jobRecord[field] != pushes {
            verdict.complain(
                .accounting,
                "the job of campaign \(campaign.id) has \(field) \(jobRecord[field] ?? "nothing") instead of \(pushes)"
            )
        }
    }

    private mutating func checkCounts(_ campaign: CampaignNote) {
        func complain(_ text: String) {
            verdict.complain(.accounting, "campaign \(campaign.id) \(text)")
        }
        if campaign.record["state"] != "finished" {
            complain("is \(campaign.record["state"] ?? "missing") at the end")
        }
        let devices = campaign.tokens.count
        var expected = ["accepted": devices * campaign.rounds]
        for round in 1...campaign.rounds {
            expected["audience:\(round)"] = devices
            expected["accepted:\(round)"] = devices
            for field in ["merged", "capped", "excluded", "unsendable"] { expected["\(field):\(round)"] = 0 }
        }
        expected["accepted:\(campaign.rounds + 1)"] = 0
        for (field, count) in expected.sorted(by: { $0.key < $1.key }) {
            let found = campaign.record[field] ?? "0"
            if found != "\(count)" { complain("has \(field) \(found) instead of \(count)") }
        }
    }

    private mutating func checkEvents(_ campaign: CampaignNote) {
        for type in ["campaign.started", "campaign.finished"] {
            let count = evidence.events.count { $0.type == type && $0.fields["campaign"] == campaign.id }
            if count != 1 { verdict.complain(.events, "\(count) \(type) for campaign \(campaign.id)") }
        }
    }
}
