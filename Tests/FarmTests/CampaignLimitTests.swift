import Campaigns
import FarmHarness
import Foundation
import StoreProtocol
import Testing

/// What limits a campaign: too many failures, caps, quiet hours, and the budget of background pushes.
@Suite(.startsProcesses(limit: .seconds(400))) struct CampaignLimitTests {
    private static let good = Tokens.make(3_000, seed: 51)
    private static let bad = Tokens.make(1_000, start: "bad00000", seed: 52)

    /// Starts a farm with stored devices, named `d-NUMBER`.
    ///
    /// - Parameter more: further fields of a device's JSON, by its number.
    private static func farm(
        _ options: Farm.Options = .init(), tokens: [String], more: (Int) -> String = { _ in "" }
    ) async throws -> Farm {
        let farm = try await Farm(options)
        _ = try await farm.ready()
        try farm.push(
            devices: tokens.enumerated().map { #"{"id":"d-\#($0)","token":"\#($1)"\#(more($0))}"# })
        try await farm.devicesFinished()
        return farm
    }

    private static func definition(_ id: String, _ fields: String) -> String {
        #"{"id":"\#(id)","payload":{"aps":{"alert":"{{id}}"}},"segment":"all",\#(fields)}"#
    }

    @Test func `a campaign with too many failures pauses, and only this campaign pauses`() async throws {
        let tokens = (Self.good + Self.bad).sorted { $0.suffix(16) < $1.suffix(16) }
        let farm = try await Self.farm(tokens: tokens)
        try farm.push(campaign: Self.definition("c", #""rate":500,"stop_at":"10 %""#))
        let paused = try await farm.event("campaign.paused")
        #expect(paused["campaign"] == "c" && paused["reason"]?.hasSuffix("pushes failed") == true)
        // Another campaign and a job continue.
        try farm.push([Job(id: "live", tokens: Array(Self.good.prefix(100)))])
        #expect(try await farm.finished("live").delivered == 100)
        #expect(try farm.events("app.paused").isEmpty)
        try await eventually("the alert fires") {
            try await farm.run("status", "--json").output.contains("campaign_paused")
        }
        // The next intake takes over a campaign that is paused.
        try await farm.killIntake()
        let accepted = try farm.campaign("c")?.counts.total(.accepted) ?? 0
        #expect(accepted > 100 && accepted < tokens.count)
        let resumed = try await farm.run("campaigns", "resume", "c", "--app", "demo")
        #expect(resumed.status == 0, "\(resumed)")
        // The window is fresh, so the campaign pauses only after at least a hundred further outcomes.
        _ = try await farm.event("campaign.paused", number: 2)
        let more = try farm.campaign("c")?.counts.total(.accepted) ?? 0
        #expect(more >= accepted + 50, "\(accepted), then \(more)")
        let shown = try await farm.run("campaigns", "show", "c", "--app", "demo")
        #expect(shown.output.contains("stop_at"), "\(shown)")
        #expect(try await farm.run("cancel", "c", "--app", "demo").status == 0)
        let job = try await farm.finished("c")
        #expect(job.delivered + job.failed + job.cancelled == job.accepted)
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `a device gets at most its cap over all campaigns of a category, despite kills`() async throws
    {
        let tokens = Array(Self.good.prefix(1_500))
        let farm = try await Self.farm(tokens: tokens) { $0 % 3 == 0 ? #","zone":"Asia/Tokyo""# : "" }
        let caps = #""category":"news","caps":[{"pushes":2,"per":"week"}]"#
        try farm.push(campaign: Self.definition("first", #""rate":5000,\#(caps)"#))
        #expect(try await farm.finishedCampaign("first").counts[.accepted, 1] == tokens.count)
        // The campaign has no cap itself, but its pushes count for the category.
        try farm.push(campaign: Self.definition("second", #""rate":600,"category":"news""#))
        var killed: Set<pid_t> = []
        for part in 1...3 {
            try await eventually("the campaign has sent some pushes") {
                try farm.campaign("second").map { $0.counts.total(.accepted) > part * 300 } ?? false
            }
            let intake = try await eventually("the intake runs") {
                farm.coordinator.descendants.first {
                    ProcessTable.isAbout("intake", $0) && !killed.contains($0)
                }
            }
            killed.insert(intake)
            farm.kill(child: intake)
        }
        #expect(try await farm.finishedCampaign("second").counts[.accepted, 1] == tokens.count)
        // If a kill had lost or repeated a count, some device would get one push more or less.
        let plan = try farm.folder.write(Self.definition("p", #""rate":5000,\#(caps)"#), to: "plan.json")
        let planned = try await farm.run("campaigns", "plan", plan, "--app", "demo", "--json")
        #expect(planned.output.contains(#""capped_now":\#(tokens.count)"#), "\(planned)")
        let three = #""category":"news","caps":[{"pushes":3,"per":"week"}]"#
        try farm.push(campaign: Self.definition("third", #""rate":5000,\#(three)"#))
        #expect(try await farm.finishedCampaign("third").counts[.accepted, 1] == tokens.count)
        try farm.push(campaign: Self.definition("fourth", #""rate":5000,\#(three)"#))
        let fourth = try await farm.finishedCampaign("fourth")
        #expect(fourth.counts[.capped, 1] == tokens.count && fourth.counts[.accepted, 1] == 0)
        // Another category has counts of its own.
        let other = #""category":"sport","caps":[{"pushes":1,"per":"week"}]"#
        try farm.push(campaign: Self.definition("other", #""rate":5000,\#(other)"#))
        #expect(try await farm.finishedCampaign("other").counts[.accepted, 1] == tokens.count)
        #expect(try await farm.finished("other").delivered == tokens.count)
        let deliveries = try farm.gateway.ledger().deliveries
        for token in tokens { #expect(deliveries[token] == 4) }
        for key in try farm.redis.client().run("KEYS", "{pushfarm:demo}:caps:*").array ?? [] {
            #expect(try farm.redis.client().run("TTL", key.text ?? "").integer ?? 0 > 0, "\(key)")
        }
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `a device in its quiet hours gets no push until they end`() async throws {
        // The quiet hours are one hour around the present time in UTC. In Tokyo, they are nine hours earlier.
        let minute = Int(Date().timeIntervalSince1970) / 60 % 1440
        func clock(_ minute: Int) -> String {
            let minute = (minute + 1440) % 1440
            return String(format: "%02d:%02d", minute / 60, minute % 60)
        }
        let farm = try await Self.farm(tokens: Array(Self.good.prefix(300))) {
            $0 % 3 == 0 ? #","zone":"Asia/Tokyo""# : $0 % 3 == 1 ? #","zone":"Mars/Base""# : ""
        }
        let quiet = #""quiet":{"from":"\#(clock(minute - 20))","to":"\#(clock(minute + 40))"}"#
        try farm.push(campaign: Self.definition("c", #""rate":5000,\#(quiet)"#))
        try await eventually("the devices in Tokyo got the push") {
            try farm.campaign("c")?.counts[.accepted, 1] == 100
        }
        let shown = try await farm.run("campaigns", "show", "c", "--app", "demo")
        #expect(shown.output.contains("waits until") && shown.output.contains("finished"), "\(shown)")
        #expect(try await farm.run("campaigns", "cancel", "c", "--app", "demo").status == 0)
        #expect(try await farm.finished("c").delivered == 100)
        let deliveries = try farm.gateway.ledger().deliveries
        for number in 0..<300 { #expect(deliveries[Self.good[number]] ?? 0 == (number % 3 == 0 ? 1 : 0)) }
    }

    @Test func `the budget limits the background pushes of all campaigns, and no alert pushes`() async throws
    {
        let tokens = Array(Self.good.prefix(400))
        let farm = try await Self.farm(
            .init(appLines: ["background_budget: 2/h"]), tokens: tokens,
            more: { $0 % 4 == 0 ? #","reachability":"force_quit","network":"wifi""# : "" })
        func background(_ id: String) -> String {
            #"{"id":"\#(id)","segment":"all","rate":5000,"push_type":"background","#
                + #""payload":{"aps":{"content-available":1}}}"#
        }
        var (accepted, capped) = (0, 0)
        for number in 1...4 {
            try farm.push(campaign: background("b\(number)"))
            let record = try await farm.finishedCampaign("b\(number)")
            accepted += record.counts.total(.accepted)
            capped += record.counts.total(.capped)
        }
        // If the hour changes during the test, the devices get up to two further pushes.
        #expect(accepted + capped == 4 * tokens.count && [2, 3, 4].contains(accepted / tokens.count))
        try await checkUnreachable(farm)
        try farm.push(campaign: Self.definition("alert", #""rate":5000"#))
        #expect(try await farm.finishedCampaign("alert").counts[.accepted, 1] == tokens.count)
    }

    @Test
    func
        `the budget counts the background pushes of campaigns, jobs and screenings together, despite a kill`()
        async throws
    {
        let tokens = Array(Self.good.prefix(300))
        let farm = try await Self.farm(.init(appLines: ["background_budget: 3/h"]), tokens: tokens) {
            #","user":"u-\#($0)""#
        }
        let hour = Int(Date().timeIntervalSince1970) / 3600
        func push(_ id: String, _ fields: String) throws {
            try farm.redis.client().run(
                "RPUSH", "pushfarm:demo",
                #"{"id":"\#(id)","push_type":"background","payload":{"aps":{"content-available":1}},\#(fields)}"#
            )
        }
        func list(_ prefix: String, _ numbers: Range<Int>) -> String {
            "[" + numbers.map { "\"\(prefix)-\($0)\"" }.joined(separator: ",") + "]"
        }
        // A token that no device has is never left out.
        let stranger = Tokens.make(1, seed: 53)
        try push("devices", #""devices":\#(list("d", 0..<300))"#)
        try await farm.killIntake()
        try push("users", #""users":\#(list("u", 0..<200))"#)
        let quoted = (tokens + stranger).map { "\"\($0)\"" }.joined(separator: ",")
        try push("tokens", #""tokens":[\#(quoted)]"#)
        var delivered = 0
        for (id, accepted) in [("devices", 300), ("users", 200), ("tokens", 301)] {
            let job = try await farm.finished(id)
            #expect(job.delivered == accepted && job.capped == 0, "\(job)")
            delivered += job.delivered
        }
        try farm.push(
            campaign: #"{"id":"c","segment":"all","rate":5000,"push_type":"background","#
                + #""payload":{"aps":{"content-available":1}}}"#)
        let campaign = try await farm.finishedCampaign("c")
        try push("more", #""tokens":[\#(quoted)]"#)
        let more = try await farm.finished("more")
        // A later hour has a budget of its own.
        try push("later", #""deliver_at":\#((hour + 2) * 3600),"tokens":[\#(quoted)]"#)
        try await eventually("all pushes of a later hour are accepted") {
            try farm.redis.client().run("HGET", "{pushfarm:demo}:job:later", "accepted").text == "301"
        }
        let screened = try await farm.run(
            "screen", "--tokens-file", farm.folder.path + "/screened", "--segment", "all", "--app", "demo",
            "--json")
        // If the hour changes during the test, some devices have a new budget.
        if hour == Int(Date().timeIntervalSince1970) / 3600 {
            #expect(campaign.counts[.accepted, 1] == 100 && campaign.counts[.capped, 1] == 200)
            #expect(more.delivered == 1 && more.capped == 300 && more.submitted == 1)
            #expect(try farm.events("push.capped").filter { $0["job"] == "more" }.count == 300)
            let summary = screened.output.filter { !$0.isWhitespace }
            #expect(summary.contains(#""rest_reasons":{"capped":300}"#), "\(screened)")
            let deliveries = try farm.gateway.ledger().deliveries
            for (number, token) in tokens.enumerated() { #expect(deliveries[token] == 3, "d-\(number)") }
            #expect(deliveries[stranger[0]] == 2)
        }
        // Alert pushes are not limited.
        try farm.push([Job(id: "alert", tokens: tokens)])
        #expect(try await farm.finished("alert").delivered == tokens.count)
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    /// Checks that commands count the 100 devices of campaign `b1` that report that background pushes may not reach them. The
    /// campaign has sent to these devices, too.
    private func checkUnreachable(_ farm: Farm) async throws {
        for command in ["show", "plan"] {
            let result = try await farm.run("campaigns", command, "b1", "--app", "demo", "--json")
            #expect(result.status == 0 && result.output.contains(#""unreachable":100"#), "\(result)")
        }
        let network = try await farm.run(
            "campaigns", "show", "b1", "--by", "network", "--app", "demo", "--json")
        #expect(network.output.contains(#""name":"wifi","sent":100"#), "\(network)")
        let segment = try await farm.run("segments", "count", "!reachability:*", "--app", "demo")
        #expect(segment.output.contains("300"), "\(segment)")
    }
}
