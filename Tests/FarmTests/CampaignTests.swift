import Campaigns
import FarmHarness
import Foundation
import OpenSSL
import PushModel
import StoreProtocol
import Testing

/// Campaigns to stored devices: every device gets each round's push once, whatever process is killed.
@Suite(.startsProcesses(limit: .seconds(400))) struct CampaignTests {
    private static let tokens = Tokens.make(3_000, seed: 21)

    /// Starts a farm with stored devices, named `d-NUMBER`.
    ///
    /// - Parameter more: further fields of a device's JSON, by its number.
    private static func farm(
        _ options: Farm.Options = .init(), tokens: [String] = tokens, more: (Int) -> String = { _ in "" }
    ) async throws -> Farm {
        let farm = try await Farm(options)
        _ = try await farm.ready()
        try farm.push(
            devices: tokens.enumerated().map { #"{"id":"d-\#($0)","token":"\#($1)"\#(more($0))}"# })
        try await farm.devicesFinished()
        return farm
    }

    private static func definition(_ id: String, _ fields: String) -> String {
        #"{"id":"\#(id)","payload":{"aps":{"alert":"{{id}}"}},\#(fields)}"#
    }

    @Test func `a campaign delivers one push to each device of its segment`() async throws {
        let farm = try await Self.farm { $0 % 3 == 0 ? #","tags":["sport"]"# : "" }
        try farm.push(campaign: Self.definition("c", #""segment":"tag:sport","rate":5000"#))
        let record = try await farm.finishedCampaign("c")
        #expect(record.state == .finished && record.counts[.accepted, 1] == 1_000)
        #expect(record.counts[.audience, 1] == 1_000 && record.counts[.unsendable, 1] == 0)
        let job = try await farm.finished("c")
        #expect(job.accepted == 1_000 && job.delivered == 1_000 && job.submitted == 1_000)
        let deliveries = try farm.gateway.ledger().deliveries
        for (number, token) in Self.tokens.enumerated() {
            #expect(deliveries[token] ?? 0 == (number % 3 == 0 ? 1 : 0), "d-\(number)")
        }
        #expect(try farm.events("campaign.started").count == 1)
        let finished = try await farm.event("campaign.finished")
        #expect(finished["accepted"] == "1000" && finished["state"] == "finished")
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `a test sends the message to the named devices first, with their values`() async throws {
        let farm = try await Self.farm(tokens: Array(Self.tokens.prefix(20)))
        let file = try farm.folder.write(Self.definition("c", #""segment":"all""#), to: "c.json")
        let result = try await farm.run(
            "campaigns", "test", file, "--devices", "d-3,d-7", "--app", "demo", "--wait")
        #expect(result.status == 0, "\(result)")
        let lines = try farm.gateway.ledger().lines
        #expect(Set(lines.compactMap(\.token)) == [Self.tokens[3], Self.tokens[7]] && lines.count == 2)
        for line in lines {
            let id = line.token == Self.tokens[3] ? "d-3" : "d-7"
            let payload = Array(#"{"aps":{"alert":"\#(id)"}}"#.utf8)
            #expect(line.bodySha256 == Hexadecimal.text(of: SHA256.hash(payload)))
        }
        #expect(try farm.campaign("c") == nil)
    }

    @Test func `kills of the intake in a campaign neither repeat nor lose a push`() async throws {
        let farm = try await Self.farm()
        try farm.push(campaign: Self.definition("c", #""segment":"all","rate":600"#))
        var killed: Set<pid_t> = []
        for part in 1...4 {
            try await eventually("the campaign has sent some pushes") {
                try farm.campaign("c").map { $0.counts.total(.accepted) > part * 400 } ?? false
            }
            let intake = try await eventually("the intake runs") {
                farm.coordinator.descendants.first {
                    ProcessTable.isAbout("intake", $0) && !killed.contains($0)
                }
            }
            killed.insert(intake)
            farm.kill(child: intake)
        }
        let record = try await farm.finishedCampaign("c")
        #expect(record.state == .finished && record.counts[.accepted, 1] == Self.tokens.count)
        let job = try await farm.finished("c")
        #expect(job.delivered == Self.tokens.count && job.maybeDuplicated == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: Self.tokens) == 0 && ledger.doubles == 0)
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `fsck compares a campaign's counts with its bits, also while it runs`() async throws {
        let tokens = Array(Self.tokens.prefix(1_000))
        let farm = try await Self.farm(
            .init(environment: ["PUSHFARM_TIME_FACTOR": "30"]), tokens: tokens)
        let rounds = #""spread":"90s","repeat":{"every":"3m","until":"done","max":2}"#
        try farm.push(campaign: Self.definition("c", #""segment":"all",\#(rounds)"#))
        try await eventually("the campaign has sent some pushes") {
            try farm.campaign("c").map { $0.counts.total(.accepted) > 100 } ?? false
        }
        try farm.push(done: (0..<300).map { "d-\($0)" }, of: "c")
        var checks = 0
        while try farm.campaign("c")?.state == .running {
            let fsck = try await farm.run("debug", "fsck")
            #expect(fsck.status == 0, "\(fsck)")
            checks += 1
        }
        #expect(checks > 2)
        let record = try await farm.finishedCampaign("c")
        #expect(record.done == 300 && record.counts[.accepted, 2] < 1_000)
        #expect(try await farm.run("debug", "fsck").status == 0)
        let (done, client) = ("{pushfarm:demo}:done:c:03:0", try farm.redis.client())
        let bit = try #require((0..<65_536).first { try client.run("GETBIT", done, "\($0)").integer == 1 })
        try client.run("SETBIT", done, "\(bit)", "0")
        let fsck = try await farm.run("debug", "fsck", "--app", "demo", "--repair")
        let fault = "campaign c: the record counts 300 devices that are done, and the bitmaps have 299"
        #expect(fsck.status == 1 && fsck.output.contains(fault), "\(fsck)")
    }

    @Test func `kills of the coordinator while it settles a campaign leave exact counts`() async throws {
        let marks = try TestFolder()
        let rules = ["redis.settle.sent:kill:0.4:1:2", "redis.settle.after:kill:0.4:2:2"]
        let tokens = Array(Self.tokens.prefix(900))
        let farm = try await Self.farm(
            .init(environment: Farm.failpoints(rules, marks: marks)), tokens: tokens)
        try farm.push(campaign: Self.definition("c", #""segment":"all","rate":400"#))
        try await eventually("the campaign's job is finished", within: .seconds(60)) {
            if farm.coordinator.hasEnded { try farm.restartCoordinator() }
            return try farm.redis.client().run("HGET", "{pushfarm:demo}:job:c", "state").text == "finished"
        }
        let kills = try FileManager.default.contentsOfDirectory(atPath: marks.path)
        #expect(kills.count == 4, "\(kills)")
        if farm.coordinator.hasEnded { try farm.restartCoordinator() }
        let job = try await farm.finished("c")
        #expect(job.accepted == 900 && job.delivered == 900)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0 && ledger.doubles <= job.maybeDuplicated)
        // The script that settles outcomes counts each outcome once for `stop_at`.
        let recent = try farm.redis.client().run("HGET", "{pushfarm:demo}:campaign:c", "recent").text
        #expect(recent == "900 0.000 0.000")
        let shown = try await farm.run("campaigns", "show", "c", "--json")
        for number in [#""accepted":900"#, #""delivered":900"#] {
            #expect(shown.output.replacing(" ", with: "").contains(number), "\(shown)")
        }
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `a device that registers during a campaign gets no push, and is not counted as done`()
        async throws
    {
        let farm = try await Self.farm(tokens: Array(Self.tokens.prefix(600)))
        try farm.push(campaign: Self.definition("c", #""segment":"all","rate":150"#))
        try await eventually("the campaign has sent some pushes") {
            try farm.campaign("c").map { $0.counts.total(.accepted) > 100 } ?? false
        }
        let late = Tokens.make(300, seed: 22)
        try farm.push(devices: (0..<300).map { #"{"id":"d-\#($0)","remove":true}"# })
        try farm.push(devices: late.enumerated().map { #"{"id":"late-\#($0)","token":"\#($1)"}"# })
        try await farm.devicesFinished()
        try #require(try farm.campaign("c")?.state == .running)
        try farm.push(done: ["late-0", "late-1", "d-400"], of: "c")
        try await eventually("the device of the audience is done") { try farm.campaign("c")?.done == 1 }
        _ = try await farm.finishedCampaign("c")
        let deliveries = try farm.gateway.ledger().deliveries
        #expect(late.allSatisfy { deliveries[$0] == nil })
        for token in Self.tokens[300..<600] where token != Self.tokens[400] {
            #expect(deliveries[token] == 1)
        }
        #expect(deliveries.values.allSatisfy { $0 == 1 })
        // Without a campaign, a new device gets the ordinal of a removed device.
        let places = try farm.redis.client().run("HGET", "{pushfarm:demo:r00}:meta", "next").integer
        try farm.push(devices: (0..<200).map { #"{"id":"later-\#($0)","token":"\#(Self.tokens[$0])"}"# })
        try await farm.devicesFinished()
        #expect(try farm.redis.client().run("HGET", "{pushfarm:demo:r00}:meta", "next").integer == places)
    }

    @Test func `a producer can cancel a campaign before the intake has it`() async throws {
        let farm = try await Self.farm(tokens: Array(Self.tokens.prefix(20)))
        let client = try farm.redis.client()
        // In a transaction, the intake cannot take the campaign before the request.
        try client.run("MULTI")
        try client.run(
            "RPUSH", "{pushfarm:demo}:campaigns", Self.definition("c", #""segment":"all","rate":1"#))
        try client.run("FCALL", "pushfarm_cancel", "1", "pushfarm:demo", "c")
        let replies = try client.run("EXEC").array ?? []
        #expect(replies.last?.array?.map { $0.text } == ["OK", nil, "expected"], "\(replies)")
        #expect(try await farm.finishedCampaign("c").state == .cancelled)
        #expect(try await farm.finished("c").delivered < 20)
    }

    @Test func `a paused campaign waits, and a cancelled campaign adds no more pushes`() async throws {
        let farm = try await Self.farm()
        try farm.push(campaign: Self.definition("c", #""segment":"all","rate":500"#))
        func accepted() throws -> Int { try farm.campaign("c")?.counts.total(.accepted) ?? 0 }
        try await eventually("the campaign has sent some pushes") { try accepted() > 200 }
        #expect(try await farm.run("pause", "--app", "demo", "--job", "c").status == 0)
        // The script of a step checks the pause, so no step can follow it.
        let paused = try accepted()
        #expect(paused < Self.tokens.count)
        try farm.push(campaign: Self.definition("other", #""segment":"all","rate":5000"#))
        _ = try await farm.finishedCampaign("other")
        #expect(try accepted() == paused)

        #expect(try await farm.run("resume", "--app", "demo", "--job", "c").status == 0)
        try await eventually("the campaign continues") { try accepted() > paused }
        #expect(try await farm.run("cancel", "c", "--app", "demo").status == 0)
        let record = try await farm.finishedCampaign("c")
        #expect(record.state == .cancelled && record.counts.total(.accepted) < Self.tokens.count)
        let job = try await farm.finished("c")
        #expect(job.accepted == record.counts.total(.accepted))
        #expect(job.delivered + job.cancelled == job.accepted)
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `a window in the devices' zones is used by the zones where it is open`() async throws {
        // The window is one hour around the present time in UTC. In Tokyo, it is nine hours earlier.
        let minute = Int(Date().timeIntervalSince1970) / 60 % 1440
        func clock(_ minute: Int) -> String {
            let minute = (minute + 1440) % 1440
            return String(format: "%02d:%02d", minute / 60, minute % 60)
        }
        let farm = try await Self.farm(tokens: Array(Self.tokens.prefix(400))) {
            #","zone":"\#($0 % 2 == 0 ? "Etc/UTC" : "Asia/Tokyo")""#
        }
        let window = #"{"from":"\#(clock(minute - 20))","to":"\#(clock(minute + 40))","zone":"device"}"#
        try farm.push(
            campaign: Self.definition("c", #""segment":"all","rate":1000,"window":\#(window)"#))
        try await eventually("the devices in UTC got their push") {
            try farm.campaign("c")?.counts.total(.accepted) == 200
        }
        try await eventually("the pushes are delivered") { try farm.gateway.ledger().deliveries.count == 200 }
        let deliveries = try farm.gateway.ledger().deliveries
        for number in 0..<400 {
            #expect(deliveries[Self.tokens[number]] ?? 0 == (number % 2 == 0 ? 1 : 0))
        }
        let record = try #require(try farm.campaign("c"))
        #expect(record.state == .running)
        let waits = record.progress?.groups.contains { group in
            if case .waiting = group.phase { group.zone == "Asia/Tokyo" } else { false }
        }
        #expect(waits == true)
    }

    @Test func `later rounds go only to devices that are not done`() async throws {
        // A factor of 30 turns one minute between two rounds into two seconds.
        let farm = try await Self.farm(
            .init(environment: ["PUSHFARM_TIME_FACTOR": "30"]), tokens: Array(Self.tokens.prefix(600)))
        let repetition = #""repeat":{"every":"1m","until":"done","max":3}"#
        try farm.push(
            campaign: Self.definition("c", #""segment":"all","spread":"30s",\#(repetition)"#))
        try await eventually("the first round has sent its pushes") {
            try farm.campaign("c")?.counts[.accepted, 1] == 600
        }
        // Two reports overlap, and name a device that is not stored.
        try farm.push(done: (0..<300).map { "d-\($0)" }, of: "c")
        try farm.push(done: (200..<400).map { "d-\($0)" } + ["unknown"], of: "c")
        try farm.push(done: ["d-1"], of: "no such campaign")
        let record = try await farm.finishedCampaign("c")
        #expect(record.done == 400 && record.counts.rounds == 3)
        #expect(record.counts[.audience, 3] == 200 && record.counts[.accepted, 3] == 200)
        let job = try await farm.finished("c")
        #expect(job.delivered == record.counts.total(.accepted))
        let deliveries = try farm.gateway.ledger().deliveries
        for number in 400..<600 { #expect(deliveries[Self.tokens[number]] == 3, "d-\(number)") }
        for number in 0..<400 { #expect(1...2 ~= deliveries[Self.tokens[number]] ?? 0, "d-\(number)") }
        #expect(try farm.events("done.refused").map { $0["campaign"] } == ["no such campaign"])
        let shown = try await farm.run("campaigns", "show", "c", "--by", "round", "--json")
        let rows = shown.output.replacing(" ", with: "").replacing("\n", with: "")
        #expect(rows.contains(#"{"name":"1","sent":600,"done":400,"#), "\(shown.output)")
        #expect(rows.contains(#"{"name":"3","sent":200,"done":0,"#))
        let spans = record.times.spans
        #expect(spans.reduce(0) { $0 + $1.sent } == record.counts.total(.accepted))
        #expect(spans.reduce(0) { $0 + $1.done } == 400)
        let times = try await farm.run("campaigns", "show", "c", "--by", "time")
        #expect(times.output.contains("TIME") && times.output.contains("66.7 %"), "\(times.output)")
        let zones = try await farm.run("campaigns", "show", "c", "--by", "zone", "--json")
        #expect(zones.output.replacing(" ", with: "").contains(#""name":"(other)","sent":600,"done":400"#))
    }

    @Test func `the farm's Redis user has the rights that a campaign needs`() async throws {
        let farm = try await Self.farm(
            .init(usersPassword: "a-password"), tokens: Array(Self.tokens.prefix(20)))
        try farm.push(campaign: Self.definition("c", #""segment":"all","rate":1000"#))
        #expect(try await farm.finishedCampaign("c").counts[.accepted, 1] == 20)
        try farm.push(done: ["d-1", "d-2"], of: "c")
        try await eventually("the devices are marked") { try farm.campaign("c")?.done == 2 }
        #expect(try await farm.finished("c").delivered == 20)
        try await eventually("the campaign's keys expire") {
            try farm.redis.client().run("TTL", "{pushfarm:demo}:campaign:c").integer ?? 0 > 0
        }
    }

    @Test func `a bad campaign is refused with its field and position`() async throws {
        let farm = try await Self.farm(tokens: Array(Self.tokens.prefix(10)))
        let bad = [
            ("x", "campaign"), (#"{"segment":"all","rate":1}"#, "payload"),
            (Self.definition("c", #""segment":"all & ","rate":1"#), "segment"),
            (Self.definition("c", #""segment":"all","rate":1,"zone":"Mars/Base""#), "zone"),
            (Self.definition("c", #""segment":"all","rate":0"#), "rate"),
            (Self.definition("c", #""segment":"nobody-saved-this","rate":1"#), "segment"),
        ]
        for (text, _) in bad { try farm.push(campaign: text) }
        try farm.push(campaign: Self.definition("twice", #""segment":"all","rate":100"#))
        try farm.push(campaign: Self.definition("twice", #""segment":"all","rate":100"#))
        _ = try await farm.finishedCampaign("twice")
        let fields = bad.map(\.1) + ["id"]
        _ = try await farm.event("campaign.refused", number: fields.count)
        #expect(try farm.events("campaign.refused").map { $0["field"] } == fields)
        #expect(try await farm.finished("twice").delivered == 10)
    }
}
