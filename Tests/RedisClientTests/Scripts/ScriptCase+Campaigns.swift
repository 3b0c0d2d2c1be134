import PushModel

@testable import RedisClient
@testable import StoreProtocol

/// Cases of the scripts that create, extend and end campaigns.
extension ScriptCase {
    static let campaigns =
        changedCampaigns + endedCampaigns + steps + mergedSteps + waitingSteps + lastSteps + doneDevices
        + outcomes + variants

    private static let changedCampaigns = [
        ScriptCase("creates a draft", again: .same) { _ in
            ChangeCampaign.create("c", name: "n", isDraft: true, fields: [("definition", "{}")])
        },
        ScriptCase("schedules a new campaign", again: .same) { _ in
            ChangeCampaign.create("c", name: "n", isDraft: false, fields: [("lane", "high")])
        },
        ScriptCase("schedules a campaign for the intake", again: .same) { fixture in
            ChangeCampaign.create("c", token: fixture.token, name: "n", isDraft: false, fields: [])
        },
        ScriptCase("creates no campaign again", again: .same) { fixture in
            try fixture.createCampaign(isDraft: true)
            return ChangeCampaign.create("c", name: "n", isDraft: false, fields: [("definition", "{}")])
        },
        ScriptCase("creates no campaign with the id of a job", again: .refused("error EXISTS c")) { fixture in
            try fixture.split([("c", 2)])
            return ChangeCampaign.create("c", name: "n", isDraft: true, fields: [])
        },
        ScriptCase("creates a campaign with the id of an old job", again: .same) { fixture in
            try fixture.run([
                "HSET", app + "job:c", "state", "finished", "accepted", "7", "delivered", "7", "created_at",
                "5",
                "finished_at", "6",
            ])
            return ChangeCampaign.create("c", name: "n", isDraft: false, fields: [])
        },
        ScriptCase(
            "creates a campaign, and sets a job record aside that is no hash", again: .same
        ) { fixture in
            try fixture.run(["SET", app + "job:c", "x"])
            return ChangeCampaign.create("c", name: "n", isDraft: false, fields: [])
        },
        ScriptCase("starts a draft", again: .same) { fixture in
            try fixture.createCampaign(isDraft: true)
            return ChangeCampaign.start("c", name: "n", fields: [("starts_at", "7")])
        },
        ScriptCase("starts no draft with the id of a newer job", again: .refused("error EXISTS c")) {
            fixture in
            try fixture.createCampaign(isDraft: true)
            try fixture.split([("c", 2)])
            return ChangeCampaign.start("c", name: "n")
        },
        ScriptCase("stores the rate of a running campaign", again: .same) { fixture in
            try fixture.runCampaign()
            return ChangeCampaign.set("c", name: "n", fields: [("rate", "50")])
        },
        ScriptCase("stores no field of a finished campaign", again: .same) { fixture in
            try fixture.runCampaign()
            try fixture.perform(
                ChangeCampaign.end(
                    "c", token: fixture.token, name: "e", as: .refused, reason: "no window", keep: 99))
            return ChangeCampaign.set("c", name: "n", fields: [("rate", "50")])
        },
        ScriptCase("begins a scheduled campaign", again: .same) { fixture in
            try fixture.createCampaign(isDraft: false)
            return ChangeCampaign.begin(
                "c", token: fixture.token, name: "n", fields: [("audience_ends", "3 4")])
        },
        ScriptCase("begins no draft", again: .same) { fixture in
            try fixture.createCampaign(isDraft: true)
            return ChangeCampaign.begin("c", token: fixture.token, name: "n", fields: [])
        },
    ]

    private static let endedCampaigns = [
        ScriptCase("cancels a draft", again: .same) { fixture in
            try fixture.createCampaign(isDraft: true)
            return ChangeCampaign.cancelDraft("c", name: "n")
        },
        ScriptCase("refuses a scheduled campaign", again: .same) { fixture in
            try fixture.createCampaign(isDraft: false)
            return ChangeCampaign.end(
                "c", token: fixture.token, name: "n", as: .refused, reason: "it does not fit", keep: 99)
        },
        ScriptCase("ends a campaign that an operator paused", again: .same) { fixture in
            try fixture.createCampaign(isDraft: false)
            try fixture.perform(ChangePauses(.job("c", .pause), by: "me@here"))
            try fixture.perform(ChangePauses(.cancel("c", from: 0, keep: 99), by: "me@here"))
            return ChangeCampaign.end(
                "c", token: fixture.token, name: "n", as: .cancelled, reason: "", keep: 99)
        },
    ]

    private static let steps = [
        ScriptCase("adds pushes of a campaign", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            return fixture.campaignStep(1)
        },
        ScriptCase("adds pushes of a campaign's second step", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            try fixture.perform(fixture.campaignStep(1))
            return fixture.campaignStep(2)
        },
        ScriptCase("adds delayed pushes of a campaign", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            return fixture.campaignStep(1, due: 4_000_000_000_000)
        },
        ScriptCase("counts devices without a push", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            var request = fixture.campaignStep(1)
            request.batches = []
            var event = FarmEvent(.campaignSkipped)
            event.add("campaign", "c")
            event.add("reason", "unreadable")
            request.events = [event]
            return request
        },
        ScriptCase("stores counts of caps that expire", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            var request = fixture.campaignStep(1)
            let seconds = try fixture.redis.run("TIME").array?.first?.text.flatMap { Int64($0) } ?? 0
            request.strings.append(
                .init(key: "caps:news:day:1:00:0", bytes: [0, 1, 1], expiresAt: (seconds + 101) * 1000))
            return request
        },
        ScriptCase("repairs the job record of a campaign", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            try fixture.run(["DEL", app + "job:c"])
            return fixture.campaignStep(1)
        },
        ScriptCase("replaces a campaign's job record that is no hash", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            try fixture.run(["SET", app + "job:c", "x"])
            return fixture.campaignStep(1)
        },
        ScriptCase("adds no step twice under another name", again: .refused("error STEP 1")) { fixture in
            try fixture.runCampaign()
            try fixture.perform(fixture.campaignStep(1, name: "of another process"))
            return fixture.campaignStep(1)
        },
        ScriptCase("adds no step that follows a lost step", again: .refused("error STEP 1")) { fixture in
            try fixture.runCampaign()
            try fixture.perform(fixture.campaignStep(1, name: "after the loss"))
            return fixture.campaignStep(2)
        },
        ScriptCase("adds steps in their order", again: .refused("error STEP 0")) { fixture in
            try fixture.runCampaign()
            return fixture.campaignStep(2)
        },
        ScriptCase("adds nothing to a campaign that does not run", again: .refused("error STEP 0")) {
            fixture in
            try fixture.createCampaign(isDraft: false)
            return fixture.campaignStep(1)
        },
        ScriptCase("adds nothing to an unknown campaign", again: .refused("error STEP 0")) { fixture in
            fixture.campaignStep(1)
        },
    ]

    private static let mergedSteps = [
        ScriptCase("stores the counts of a merged campaign", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            try fixture.runCampaign("m")
            return fixture.mergedStep(ofLast: 0)
        },
        ScriptCase("merges no campaign that is paused", again: .same) { fixture in
            try fixture.runCampaign()
            try fixture.runCampaign("m")
            try fixture.perform(ChangePauses(.job("m", .pause), by: "me@here"))
            return fixture.mergedStep(ofLast: 0)
        },
        ScriptCase("merges no campaign that is cancelled", again: .same) { fixture in
            try fixture.runCampaign()
            try fixture.runCampaign("m")
            try fixture.perform(ChangePauses(.cancel("m", from: 0, keep: 99), by: "me@here"))
            return fixture.mergedStep(ofLast: 0)
        },
        ScriptCase("merges a campaign until the time of its cancel", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            try fixture.runCampaign("m")
            try fixture.perform(ChangePauses(.cancel("m", from: 4_000_000_000_000, keep: 99), by: "me@here"))
            return fixture.mergedStep(ofLast: 0)
        },
        ScriptCase("merges no campaign that is at another step", again: .same) { fixture in
            try fixture.runCampaign()
            try fixture.runCampaign("m")
            return fixture.mergedStep(ofLast: 1)
        },
        ScriptCase("merges no campaign whose last step has another name", again: .same) { fixture in
            try fixture.runCampaign()
            try fixture.runCampaign("m")
            return fixture.mergedStep(ofLast: 0, named: "lost")
        },
        ScriptCase("merges no unknown campaign", again: .same) { fixture in
            try fixture.runCampaign()
            return fixture.mergedStep(ofLast: 0)
        },
    ]

    private static let waitingSteps = [
        ScriptCase("adds nothing to a paused campaign", again: .same) { fixture in
            try fixture.runCampaign()
            try fixture.perform(ChangePauses(.job("c", .pause), by: "me@here"))
            return fixture.campaignStep(1)
        },
        ScriptCase("counts devices of a paused campaign", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            try fixture.perform(ChangePauses(.job("c", .pause), by: "me@here"))
            var request = fixture.campaignStep(1)
            request.batches = []
            return request
        },
        ScriptCase("adds nothing to a cancelled campaign", again: .same) { fixture in
            try fixture.runCampaign()
            try fixture.perform(ChangePauses(.cancel("c", from: 0, keep: 99), by: "me@here"))
            return fixture.campaignStep(1)
        },
        ScriptCase("adds pushes until the time of a cancel", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            try fixture.perform(ChangePauses(.cancel("c", from: 4_000_000_000_000, keep: 99), by: "me@here"))
            return fixture.campaignStep(1)
        },
        ScriptCase("adds nothing while the app is full", again: .same) { fixture in
            try fixture.runCampaign()
            try fixture.run(["HSET", app + "admission", "max_backlog", "2"])
            try fixture.run(["HSET", app + "load", "open", "2"])
            return fixture.campaignStep(1)
        },
    ]

    private static let lastSteps = [
        ScriptCase("ends a campaign with its last pushes", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            var request = fixture.campaignStep(1)
            request.ending = .finished
            return request
        },
        ScriptCase("finishes the job of a campaign without open pushes", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            try fixture.perform(fixture.campaignStep(1))
            let batch = try fixture.checkout().batches[0]
            _ = try fixture.report(batch, 0..<3, entry: StoreFixture.delivered("c", 3))
            try fixture.perform(
                Settle(try fixture.results().map { StoreFixture.settlement($0, "c", delivered: 3) }))
            return fixture.campaignEnd(2, .finished)
        },
        ScriptCase("finishes the job of a campaign that sent nothing", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            return fixture.campaignEnd(1, .finished)
        },
        ScriptCase("ends a cancelled campaign and keeps the mark", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            try fixture.perform(fixture.campaignStep(1))
            try fixture.perform(ChangePauses(.cancel("c", from: 0, keep: 99), by: "me@here"))
            return fixture.campaignEnd(2, .cancelled)
        },
        ScriptCase("does not finish a cancelled campaign as finished", again: .same) { fixture in
            try fixture.runCampaign()
            try fixture.perform(ChangePauses(.cancel("c", from: 0, keep: 99), by: "me@here"))
            return fixture.campaignEnd(1, .finished)
        },
        ScriptCase("keeps the mark of a cancelled campaign that may add pushes", again: .other("[1, 0, 0]")) {
            fixture in
            try fixture.runCampaign()
            try fixture.perform(fixture.campaignStep(1))
            try fixture.perform(ChangePauses(.cancel("c", from: 0, keep: 99), by: "me@here"))
            return CancelBatches(try fixture.perform(ScanBatches()).items)
        },
        ScriptCase("keeps cancelled pushes with content of other campaigns", again: .other("[1, 0, 0]")) {
            fixture in
            try fixture.runCampaign()
            try fixture.perform(fixture.campaignStep(1))
            try fixture.run(["HSET", app + "campaign:c", "carries", "group"])
            try fixture.perform(ChangePauses(.cancel("c", from: 0, keep: 99), by: "me@here"))
            return CancelBatches(try fixture.perform(ScanBatches()).items)
        },
    ]

    private static let doneDevices = [
        ScriptCase("marks devices as done", again: .other("0")) { fixture in
            try fixture.runCampaign()
            return MarkDone(
                token: fixture.token, campaign: "c", chunks: [(0, 0, [1, 8, 1, 65_535]), (3, 12, [0])])
        },
        ScriptCase("marks further devices as done", again: .other("0")) { fixture in
            try fixture.runCampaign()
            _ = try fixture.perform(MarkDone(token: fixture.token, campaign: "c", chunks: [(0, 0, [1, 2])]))
            return MarkDone(token: fixture.token, campaign: "c", chunks: [(0, 0, [2, 3])])
        },
        ScriptCase("gives the bits of devices that are done the life of the campaign", again: .other("0")) {
            fixture in
            try fixture.runCampaign()
            try fixture.run(["EXPIRE", app + "campaign:c", "50"])
            return MarkDone(token: fixture.token, campaign: "c", chunks: [(0, 0, [1])])
        },
        ScriptCase("replaces unreadable bits of devices that are done", again: .other("0")) { fixture in
            try fixture.runCampaign()
            try fixture.run(["RPUSH", app + "done:c:00:0", "x"])
            return MarkDone(token: fixture.token, campaign: "c", chunks: [(0, 0, [1])])
        },
        ScriptCase("marks no device of an unknown campaign", again: .same) { fixture in
            MarkDone(token: fixture.token, campaign: "c", chunks: [(0, 0, [1])])
        },
    ]
}

/// Cases of the script that settles the outcomes of a campaign.
extension ScriptCase {
    fileprivate static let outcomes = [
        ScriptCase("counts outcomes of a campaign", again: .other("[0, 0]")) { fixture in
            Settle([try fixture.campaignOutcome(recent: nil, failed: 0)])
        },
        ScriptCase("pauses a campaign of which too many pushes failed", again: .other("[0, 0]")) { fixture in
            Settle([try fixture.campaignOutcome(recent: "99 19.500 0.000", failed: 1)])
        },
        ScriptCase("does not pause a campaign after few pushes", again: .other("[0, 0]")) { fixture in
            Settle([try fixture.campaignOutcome(recent: "97 90.000 0.000", failed: 1)])
        },
        ScriptCase("does not pause a campaign of which few pushes failed", again: .other("[0, 0]")) {
            fixture in
            Settle([try fixture.campaignOutcome(recent: "998 199.000 0.000", failed: 1)])
        },
        ScriptCase("pauses a campaign that allows no failures", again: .other("[0, 0]")) { fixture in
            let outcome = try fixture.campaignOutcome(recent: "998 0.000 0.000", failed: 1)
            try fixture.run(["HSET", app + "campaign:c", "stop_at", "0.0005"])
            return Settle([outcome])
        },
        ScriptCase("counts no job with the id of a campaign that has ended", again: .other("[0, 0]")) {
            fixture in
            let outcome = try fixture.campaignOutcome(recent: "99 99.000 0.000", failed: 1)
            try fixture.run(["HSET", app + "campaign:c", "state", "finished", "finished_at", "1"])
            return Settle([outcome])
        },
        ScriptCase("suppresses a campaign's bad tokens", again: .other("[0, 0]")) { fixture in
            try fixture.makeRegistry()
            var outcome = try fixture.campaignOutcome(recent: nil, failed: 1)
            outcome.invalidTokens = [StoreFixture.dead([1, 1])]
            return Settle([outcome])
        },
        ScriptCase("keeps many bad tokens of a campaign unconfirmed", again: .other("[0, 0]")) { fixture in
            try fixture.makeRegistry()
            var outcome = try fixture.campaignOutcome(recent: "200 90.000 90.000", failed: 1)
            outcome.invalidTokens = [StoreFixture.dead([1, 1]), StoreFixture.dead([1, 2], .unregistered)]
            return Settle([outcome])
        },
        ScriptCase("does not count a campaign's bad tokens in the app's guard", again: .other("[0, 0]")) {
            fixture in
            try fixture.run(["HSET", app + "guard", "answers", "1000", "bad", "949"])
            var outcome = try fixture.campaignOutcome(recent: nil, failed: 1)
            outcome.responses = 2
            outcome.invalidTokens = [StoreFixture.dead([1, 1])]
            return Settle([outcome])
        },
        ScriptCase("counts a resumed campaign from 0", again: .any) { fixture in
            try fixture.perform(Settle([try fixture.campaignOutcome(recent: "99 99.000 0.000", failed: 1)]))
            return ResumePaused(.pausedJob("c"))
        },
    ]
}

extension StoreFixture {
    /// Reports one delivered push and `failed` failed pushes of a running campaign.
    ///
    /// - Parameter recent: the counts of the campaign's earlier outcomes, as the record has them.
    fileprivate func campaignOutcome(recent: String?, failed: Int) throws -> Settlement {
        try runCampaign()
        try perform(campaignStep(1))
        if let recent { try run(["HSET", "{pushfarm:demo}:campaign:c", "recent", recent]) }
        let batch = try checkout().batches[0]
        _ = try report(batch, 0..<1 + failed, entry: Self.delivered("c", 1 + failed))
        var settlement = Self.settlement(try results()[0], "c", delivered: 1)
        settlement.jobs[0].failed = failed
        (settlement.responses, settlement.scopes) = (1 + failed, [Self.scope])
        return settlement
    }

    func createCampaign(_ id: String = "c", isDraft: Bool) throws {
        _ = try perform(ChangeCampaign.create(id, name: "create", isDraft: isDraft, fields: []))
    }

    func runCampaign(_ id: String = "c") throws {
        try createCampaign(id, isDraft: false)
        _ = try perform(ChangeCampaign.begin(id, token: token, name: "begin", fields: []))
    }

    /// Returns a step whose pushes have content of the campaign `m`.
    func mergedStep(ofLast step: Int, named lastStep: String = "") -> StoreCampaignStep {
        var request = campaignStep(1)
        var event = FarmEvent(.campaignSkipped)
        event.add("campaign", "c")
        request.events = [event]
        request.merged = [
            .init(
                campaign: "m", step: step, lastStep: lastStep, fields: ["progress": "{}"],
                counts: ["audience:1": 2, "merged:1": 2])
        ]
        return request
    }

    /// The name of a step; empty for step 0.
    private static func campaignStepName(_ step: Int) -> String { step > 0 ? "step \(step)" : "" }

    /// Returns a step of three pushes and of one device that cannot be sent to.
    func campaignStep(_ step: Int, due: Int64 = 0, name: String? = nil) -> StoreCampaignStep {
        var request = StoreCampaignStep(
            token: token, campaign: "c", step: step, after: Self.campaignStepName(step - 1),
            name: name ?? Self.campaignStepName(step))
        request.fields = [("progress", "{\"step\":\(step)}")]
        request.counts = [("accepted:1", 3), ("unsendable:1", 1), ("audience:1", 4)]
        request.strings = [.init(key: "sent:c:1:00:0", bytes: [0, 1, 0, UInt8(step)])]
        request.batches = [
            .init(shard: 1, lane: .bulk, due: due, tokens: 3, body: Self.body([("c", 3)]))
        ]
        request.keep = 99
        return request
    }

    /// Returns a last step without pushes.
    func campaignEnd(_ step: Int, _ ending: CampaignEnding) -> StoreCampaignStep {
        var request = StoreCampaignStep(
            token: token, campaign: "c", step: step, after: Self.campaignStepName(step - 1), name: "end")
        request.ending = ending
        request.keep = 99
        return request
    }
}
