import ChaosChecker
import Testing

/// Tests of the checker for campaigns: it must find each forged delivery and count.
struct CampaignCheckerTests {
    /// The evidence of a correct run: a campaign with two devices and two rounds, in which one push was delivered twice.
    private static var evidence: Evidence {
        var evidence = Evidence()
        var campaign = CampaignNote(id: "camp", tokens: ["x", "y"], rounds: 2)
        campaign.record = ["state": "finished", "accepted": "4"]
        for field in ["audience:1", "audience:2", "accepted:1", "accepted:2"] { campaign.record[field] = "2" }
        evidence.campaigns = [campaign]
        for (index, (token, payload)) in [("x", "1"), ("y", "1"), ("y", "1"), ("x", "2"), ("y", "2")]
            .enumerated()
        {
            evidence.gateway.append(
                GatewayNote(
                    at: 100 + Int64(index), connection: 1, stream: 2 * index + 1, job: "camp", token: token,
                    status: 200, reason: "", payload: payload))
        }
        for (index, type) in ["campaign.started", "campaign.finished"].enumerated() {
            evidence.events.append(
                EventNote(type: type, at: 99 + Int64(index) * 10, fields: ["campaign": "camp"]))
        }
        let jobRecords: [[String: String]] = [
            ["submitted": "0", "accepted": "1", "adding": "1", "state": "open"],
            ["submitted": "2", "accepted": "3", "adding": "1", "state": "open", "delivered": "2"],
            [
                "submitted": "4", "accepted": "4", "state": "finished", "delivered": "4",
                "maybe_duplicated": "1",
            ],
        ]
        for (index, record) in jobRecords.enumerated() {
            evidence.notes.append(
                JobRecordsNote(number: index + 1, at: 100 + Int64(index), jobRecords: ["camp": record]))
        }
        return evidence
    }

    private static func complaints(_ change: (inout Evidence) -> Void) -> [BrokenPromise] {
        var evidence = Self.evidence
        change(&evidence)
        return Checker.judge(evidence, Expectation(doubles: 1)).complaints
    }

    @Test func `a correct campaign has no complaints`() {
        #expect(Self.complaints { _ in } == [])
        let verdict = Checker.judge(Self.evidence, Expectation(doubles: 1))
        #expect(verdict.pushes == 4 && verdict.delivered == 4 && verdict.duplicates == 1)
    }

    @Test(arguments: [0, 3, 4]) func `a device that is left out of a round is noticed`(index: Int) {
        let token = Self.evidence.gateway[index].token
        let complaints = Self.complaints { $0.gateway[index].status = 0 }
        #expect(complaints.contains(BrokenPromise(.lost, "token \(token) in a round of campaign camp")))
    }

    @Test func `a push in the wrong round is noticed`() {
        let complaints = Self.complaints { $0.gateway[4].payload = "1" }
        #expect(complaints.contains { $0.kind == .lost } && complaints.contains { $0.kind == .duplicated })
    }

    /// Changes the evidence so that the device with the token `x` left the audience, or was done, before the second round.
    private static func omit(_ list: WritableKeyPath<CampaignNote, [String]>, in evidence: inout Evidence) {
        evidence.gateway.remove(at: 3)
        evidence.gateway[3].stream = 7
        evidence.campaigns[0].tokens = ["y"]
        evidence.campaigns[0][keyPath: list] = ["x"]
        for (field, count) in [("accepted", "3"), ("accepted:2", "1"), ("audience:2", "1")] {
            evidence.campaigns[0].record[field] = count
        }
        if list == \.done { evidence.campaigns[0].record["done"] = "1" }
        for field in ["submitted", "accepted", "delivered"] {
            evidence.notes[2].jobRecords?["camp"]?[field] = "3"
        }
    }

    private static let lists: [@Sendable (inout Evidence) -> Void] = [
        { omit(\.leaving, in: &$0) }, { omit(\.done, in: &$0) },
    ]

    @Test(arguments: lists.indices) func `a device may leave, or be done, between two rounds`(list: Int) {
        #expect(Self.complaints(Self.lists[list]) == [])
    }

    @Test(arguments: [
        ("audience:2", "3"), ("accepted:1", "1"), ("unsendable:2", "2"), ("excluded:1", "2"), ("done", "2"),
    ])
    func `a wrong count of a campaign that devices leave is noticed`(field: String, value: String) {
        let complaints = Self.complaints {
            Self.omit(\.leaving, in: &$0)
            $0.campaigns[0].record[field] = value
        }
        #expect(complaints.contains { $0.text.hasPrefix("campaign camp has \(field) \(value) instead") })
    }

    @Test func `a device that is in the audience, and neither has a push nor is excluded, is noticed`() {
        let complaints = Self.complaints {
            Self.omit(\.leaving, in: &$0)
            $0.campaigns[0].record["audience:2"] = "2"
        }
        #expect(complaints.contains { $0.text.contains("handled 1 devices in round 2") })
    }

    @Test func `a push of a later round to a device that is done is noticed`() {
        let complaints = Self.complaints {
            $0.campaigns[0].tokens = ["y"]
            $0.campaigns[0].done = ["x"]
            $0.campaigns[0].record["done"] = "1"
        }
        #expect(
            complaints.contains(
                BrokenPromise(.unexpected, "token x of a done device in a later round of campaign camp")))
    }

    @Test func `a leaving device that returns in a later round is noticed`() {
        let complaints = Self.complaints {
            $0.campaigns[0].tokens = ["y"]
            $0.campaigns[0].leaving = ["x"]
            $0.gateway[0].status = 0
        }
        #expect(complaints.contains { $0.kind == .lost && $0.text.hasSuffix("and a later round has it") })
    }

    @Test func `a round without pushes is noticed`() {
        let complaints = Self.complaints { evidence in
            for index in evidence.gateway.indices { evidence.gateway[index].payload = "1" }
        }
        #expect(complaints.contains { $0.text.hasSuffix("sent 1 different payloads") })
    }

    @Test func `a push to a device out of the audience is noticed`() {
        let complaints = Self.complaints { $0.gateway[2].token = "z" }
        #expect(complaints.contains { $0.kind == .unexpected })
    }

    @Test func `a delivery that the job record does not allow is noticed`() {
        let complaints = Self.complaints { $0.notes[2].jobRecords?["camp"]?["maybe_duplicated"] = nil }
        #expect(complaints.contains { $0.kind == .duplicated })
    }

    @Test(
        arguments: [
            (0, "adding", nil), (1, "adding", "2"), (1, "submitted", "3"), (1, "accepted", "4"),
            (2, "adding", "1"), (2, "delivered", "3"), (2, "state", "open"), (2, "submitted", "5"),
        ] as [(Int, String, String?)])
    func `a wrong count of a job record is noticed`(note: Int, field: String, value: String?) {
        let complaints = Self.complaints { $0.notes[note].jobRecords?["camp"]?[field] = value }
        #expect(complaints.contains { $0.kind == .accounting })
    }

    @Test func `a job that is no campaign has no field adding`() {
        let complaints = Self.complaints { $0.campaigns = [] }
        #expect(complaints.contains { $0.text.contains("adding is 1") })
    }

    @Test func `a record whose accepted pushes become fewer is noticed`() {
        let complaints = Self.complaints { evidence in
            evidence.notes[1].jobRecords?["camp"]?["delivered"] = "1"
            evidence.notes[2].jobRecords?["camp"] = [
                "submitted": "1", "accepted": "1", "state": "finished", "delivered": "1",
            ]
        }
        #expect(complaints.contains { $0.text.contains("accepted was 2 without adding, is 1") })
    }

    @Test(
        arguments: [
            "state", "accepted", "accepted:1", "accepted:2", "accepted:3", "audience:1", "audience:2",
            "excluded:1", "capped:2", "unsendable:2",
        ])
    func `a wrong count of a campaign is noticed`(field: String) {
        let complaints = Self.complaints { $0.campaigns[0].record[field] = "1" }
        #expect(complaints.contains { $0.kind == .accounting && $0.text.hasPrefix("campaign camp ") })
    }

    @Test(arguments: [0, 1]) func `a missing or repeated event is noticed`(index: Int) {
        #expect(Self.complaints { $0.events.remove(at: index) }.contains { $0.kind == .events })
        #expect(
            Self.complaints { $0.events.insert($0.events[index], at: index) }.contains { $0.kind == .events })
    }
}
