import ChaosChecker
import Testing

/// Tests of the checker for campaigns with caps, with variants and with merged pushes.
struct CampaignKindCheckerTests {
    /// The evidence of some campaigns to the devices `x` and `y`.
    private struct Builder {
        var evidence = Evidence()
        private var records: [String: [String: String]] = [:]

        /// Adds a finished campaign.
        mutating func add(_ campaign: CampaignNote, _ record: [String: Int], pushes: Int) {
            var campaign = campaign
            campaign.record = record.mapValues { "\($0)" }.merging(
                ["state": "finished", "accepted": "\(pushes)"]) { $1 }
            evidence.campaigns.append(campaign)
            records[campaign.id] = [
                "submitted": "\(pushes)", "accepted": "\(pushes)", "delivered": "\(pushes)",
                "state": "finished",
            ]
            for type in ["campaign.started", "campaign.finished"] {
                evidence.events.append(EventNote(type: type, at: 1, fields: ["campaign": campaign.id]))
            }
            evidence.notes = [JobRecordsNote(number: 1, at: 100, jobRecords: records)]
        }

        mutating func deliver(_ job: String, _ token: String, _ payload: String) {
            let stream = 2 * evidence.gateway.count + 1
            evidence.gateway.append(
                GatewayNote(
                    at: Int64(stream), connection: 1, stream: stream, job: job, token: token, status: 200,
                    reason: "", payload: payload))
        }
    }

    private static func complaints(_ evidence: Evidence, _ change: (inout Evidence) -> Void) -> [String] {
        var evidence = evidence
        change(&evidence)
        return Checker.judge(evidence, Expectation(doubles: 1)).complaints.map(\.description)
    }

    // MARK: Caps

    /// Device `x` got the push of campaign `a`, and device `y` the push of campaign `b`.
    private static var capped: Evidence {
        var builder = Builder()
        for (id, token) in [("a", "x"), ("b", "y")] {
            builder.add(
                CampaignNote(id: id, tokens: ["x", "y"], rounds: 1, kind: .capped(category: "news")),
                ["audience:1": 2, "accepted:1": 1, "capped:1": 1], pushes: 1)
            builder.deliver(id, token, "p")
        }
        return builder.evidence
    }

    @Test func `campaigns with a cap are correct if each device gets one push`() {
        #expect(Self.complaints(Self.capped) { _ in } == [])
    }

    @Test func `a device with two pushes of a category is noticed`() {
        let complaints = Self.complaints(Self.capped) { $0.gateway[1].token = "x" }
        #expect(complaints.contains("duplicated: token x got 2 pushes of category news, whose cap is 1"))
        #expect(complaints.contains("lost: token y in all campaigns of category news"))
    }

    @Test(arguments: ["0", "2"]) func `a wrong count of capped devices is noticed`(count: String) {
        let complaints = Self.complaints(Self.capped) { $0.campaigns[1].record["capped:1"] = count }
        #expect(complaints.contains("accounting: campaign b has capped:1 \(count) instead of 1"))
    }

    @Test func `a push that was sent twice is noticed`() {
        let complaints = Self.complaints(Self.capped) { evidence in
            evidence.gateway.append(evidence.gateway[1])
            evidence.gateway[2].stream = 5
        }
        #expect(complaints.contains("duplicated: 1 of campaign b, whose job record allows 0"))
    }

    // MARK: Variants

    /// Device `x` got the variant `a` in both rounds, and device `y` the variant `b`. Only `y` has a reward.
    private static var variants: Evidence {
        var builder = Builder()
        var note = CampaignNote(
            id: "learn", tokens: ["x", "y"], rounds: 2, kind: .variants(["pa": "a", "pb": "b"]))
        note.rewarded = ["y"]
        builder.add(
            note,
            [
                "audience:1": 2, "accepted:1": 2, "audience:2": 2, "accepted:2": 2, "pulls:a": 1,
                "pulls:b": 1,
                "rewards:b": 1000, "rewarded": 1,
            ], pushes: 4)
        for (token, payload) in [("x", "pa"), ("y", "pb"), ("x", "pa"), ("y", "pb")] {
            builder.deliver("learn", token, payload)
        }
        return builder.evidence
    }

    @Test func `a campaign with variants is correct if each device keeps its variant`() {
        #expect(Self.complaints(Self.variants) { _ in } == [])
    }

    @Test func `a device that changes its variant is noticed`() {
        let complaints = Self.complaints(Self.variants) { $0.gateway[2].payload = "pb" }
        #expect(complaints.contains("unexpected: token x got the variants a and b of campaign learn"))
    }

    @Test func `a device without a variant's push in a round is noticed`() {
        let complaints = Self.complaints(Self.variants) { $0.gateway[2].status = 0 }
        #expect(complaints.contains("lost: token x got 1 pushes in 2 rounds of campaign learn"))
        #expect(complaints.contains("lost: 1 pushes of campaign learn, which its record counts"))
    }

    @Test(arguments: ["pulls:a", "pulls:b", "rewards:a", "rewards:b", "rewarded", "accepted:2", "capped:1"])
    func `a wrong count of a campaign with variants is noticed`(field: String) {
        let complaints = Self.complaints(Self.variants) { $0.campaigns[0].record[field] = "7" }
        #expect(complaints.contains { $0.hasPrefix("accounting: campaign learn has \(field) 7 instead of") })
    }

    // MARK: Merged pushes

    /// Campaign `a` has two rounds, and `b` one. Device `x` got both contents together, and device `y` in two pushes.
    private static var merged: Evidence {
        var builder = Builder()
        for (id, rounds, record, pushes) in [
            (
                "a", 2,
                ["audience:1": 2, "accepted:1": 2, "audience:2": 2, "accepted:2": 1, "merged:2": 1], 3
            ),
            ("b", 1, ["audience:1": 2, "accepted:1": 1, "merged:1": 1], 1),
        ] {
            builder.add(
                CampaignNote(id: id, tokens: ["x", "y"], rounds: rounds, kind: .merged), record,
                pushes: pushes)
        }
        builder.evidence.merges = [
            MergeNote(
                id: "m", campaigns: ["a", "b"], payloads: ["pa": ["a"], "pb": ["b"], "pab": ["a", "b"]],
                gap: 6000, slotLength: 1000)
        ]
        builder.evidence.merges[0].slots = [[10, 16], [10, 20]]
        for (token, payload) in [("x", "pab"), ("y", "pa"), ("x", "pa"), ("y", "pab")] {
            builder.deliver("m", token, payload)
        }
        return builder.evidence
    }

    @Test func `merged campaigns are correct if each device gets each content once in each round`() {
        #expect(Self.complaints(Self.merged) { _ in } == [])
    }

    @Test func `a content that a device does not get is noticed`() {
        let complaints = Self.complaints(Self.merged) { $0.gateway[0].payload = "pa" }
        #expect(complaints.contains("lost: token x got the content of campaign b 0 times in 1 rounds"))
        #expect(
            complaints.contains(
                "accounting: campaign b counts 2 devices with its content, and the gateway 1"))
    }

    @Test func `a merged push that is lost, repeated or has another payload is noticed`() {
        let lost = Self.complaints(Self.merged) { $0.gateway[2].status = 0 }
        #expect(lost.contains("lost: 1 pushes of merge group m, which its records count"))
        let repeated = Self.complaints(Self.merged) { evidence in
            evidence.gateway.append(evidence.gateway[3])
            evidence.gateway[4].stream = 9
        }
        #expect(repeated.contains("duplicated: 1 of merge group m, whose job record allows 0"))
        let strange = Self.complaints(Self.merged) { $0.gateway[2].payload = "px" }
        #expect(strange.contains("unexpected: token x got another payload of merge group m"))
    }

    @Test func `two pushes without their distance are noticed`() {
        let complaints = Self.complaints(Self.merged) { $0.merges[0].slots[0] = [10, 15] }
        #expect(
            complaints == [
                "unexpected: a device got two pushes of merge group m within 5 slots, not 6000 ms apart"
            ])
    }

    @Test func `a push without a slot is noticed`() {
        let complaints = Self.complaints(Self.merged) { $0.merges[0].slots[1] = [20] }
        #expect(
            complaints == ["accounting: merge group m has 3 pushes in its slots, and 4 in its records"])
    }

    @Test(arguments: ["accepted:1", "merged:2", "audience:2", "capped:1"])
    func `a wrong count of a merged campaign is noticed`(field: String) {
        let complaints = Self.complaints(Self.merged) { $0.campaigns[0].record[field] = "7" }
        #expect(complaints.contains { $0.hasPrefix("accounting: campaign a ") })
    }
}
