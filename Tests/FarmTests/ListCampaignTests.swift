import Campaigns
import FarmHarness
import Foundation
import OpenSSL
import PushModel
import Testing

/// Campaigns to uploaded lists: every row gets the push once, with the values of the row.
@Suite(.startsProcesses(limit: .seconds(300))) struct ListCampaignTests {
    private static let tokens = Tokens.make(3_000, seed: 31)
    private static let zones = ["Etc/UTC", "Asia/Tokyo"]

    /// Uploads a list with two zones. Every third row has no name.
    private static func upload(_ farm: Farm, name: String = "readers") async throws {
        var text = "name,token,lang,zone,n\n"
        for (number, token) in tokens.enumerated() {
            let first = number % 3 > 0 ? "\"Zoë \"\"\(number)\"\"\"" : ""
            text += "\(first),\(token),\(number % 2 == 0 ? "de" : ""),\(zones[number % 2]),\(number)\n"
        }
        let path = try farm.folder.write(text, to: "\(name).csv")
        let result = try await farm.run("lists", "upload", path, "--name", name, "--app", "demo")
        #expect(result.status == 0 && result.output.contains("3,000 rows in 2 time zones"), "\(result)")
    }

    private static func hash(_ payload: String) -> String {
        Hexadecimal.text(of: SHA256.hash(Array(payload.utf8)))
    }

    @Test func `a campaign to a list sends each row its own text once, whatever is killed`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        try await Self.upload(farm)
        try farm.push(
            campaign: #"""
                {"id":"c","list":"readers","rate":600,"translations":{
                 "de":{"aps":{"alert":"Hallo {{name|du}}","badge":"{{=n|0}}"}},
                 "default":{"aps":{"alert":"Hi {{name|there}}"}}}}
                """#)
        var killed: Set<pid_t> = []
        for part in 1...2 {
            try await eventually("the campaign has sent some pushes") {
                try farm.campaign("c").map { $0.counts.total(.accepted) > part * 800 } ?? false
            }
            let intake = try await eventually("an intake that was not killed is ready") {
                let intake = try await farm.ready().intake.pid
                return killed.contains(intake) ? nil : intake
            }
            farm.kill(child: intake)
            killed.insert(intake)
        }
        let record = try await farm.finishedCampaign("c")
        #expect(record.state == .finished && record.audienceEnds == [1_500, 1_500])
        #expect(record.counts[.audience, 1] == 3_000 && record.counts[.accepted, 1] == 3_000)
        let job = try await farm.finished("c")
        #expect(job.delivered == 3_000 && job.maybeDuplicated == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: Self.tokens) == 0 && ledger.doubles == 0)
        let numbers = Dictionary(uniqueKeysWithValues: Self.tokens.enumerated().map { ($1, $0) })
        for line in ledger.lines {
            let number = try #require(line.token.flatMap { numbers[$0] })
            let name = number % 3 > 0 ? #"Zoë \"\#(number)\""# : nil
            // The cells of CSV are texts.
            let payload =
                number % 2 == 0
                ? #"{"aps":{"alert":"Hallo \#(name ?? "du")","badge":"\#(number)"}}"#
                : #"{"aps":{"alert":"Hi \#(name ?? "there")"}}"#
            guard line.bodySha256 == Self.hash(payload) else {
                Issue.record("row \(number) got another payload than \(payload)")
                return
            }
        }
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `rows are sent in the windows of their zones`() async throws {
        // The window is one hour around the present time in UTC. In Tokyo, it is nine hours earlier.
        let minute = Int(Date().timeIntervalSince1970) / 60 % 1440
        func clock(_ minute: Int) -> String {
            let minute = (minute + 1440) % 1440
            return String(format: "%02d:%02d", minute / 60, minute % 60)
        }
        let farm = try await Farm()
        _ = try await farm.ready()
        try await Self.upload(farm)
        try farm.push(
            campaign: """
                {"id":"c","list":"readers","rate":3000,"payload":{"aps":{"alert":"x"}},
                 "window":{"from":"\(clock(minute - 20))","to":"\(clock(minute + 40))","zone":"device"}}
                """)
        try await eventually("the rows in UTC got their push", within: .seconds(60)) {
            try farm.gateway.ledger().deliveries.count == 1_500
        }
        let deliveries = try farm.gateway.ledger().deliveries
        for (number, token) in Self.tokens.enumerated() {
            #expect(deliveries[token] ?? 0 == 1 - number % 2, "row \(number)")
        }
        #expect(try farm.campaign("c")?.state == .running)
    }

    @Test func `a list that is missing, unfinished or replaced is not used`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        let half = UploadedList(
            name: "half", version: "v", state: .uploading, by: "ada", at: 1, expiresAt: 1 << 45,
            groups: [.init(zone: nil, rows: 1)])
        try farm.redis.client().run(
            "HSET", "{pushfarm:demo}:lists", "half", String(decoding: half.json, as: UTF8.self))
        for name in ["nowhere", "half"] {
            try farm.push(
                campaign: #"{"id":"\#(name)","list":"\#(name)","rate":9,"payload":{"aps":{"alert":"x"}}}"#)
        }
        _ = try await farm.event("campaign.refused", number: 2)
        #expect(try farm.events("campaign.refused").map { $0["field"] } == ["list", "list"])

        try await Self.upload(farm)
        try farm.push(
            campaign: #"{"id":"c","list":"readers","rate":200,"payload":{"aps":{"alert":"x"}}}"#)
        try await eventually("the campaign has sent some pushes") {
            try farm.campaign("c").map { $0.counts.total(.accepted) > 100 } ?? false
        }
        #expect(try await farm.run("lists", "remove", "readers", "--app", "demo").status == 0)
        try await Self.upload(farm)
        // The rows of the new upload may have other numbers, so the campaign must not continue with them.
        let accepted = try farm.campaign("c")?.counts.total(.accepted) ?? 0
        try farm.push(
            campaign: #"{"id":"d","list":"readers","rate":5000,"payload":{"aps":{"alert":"x"}}}"#)
        _ = try await farm.finishedCampaign("d")
        let later = try #require(try farm.campaign("c"))
        #expect(later.state == .running && later.counts.total(.accepted) < accepted + 1_000)
        #expect(later.counts[.unsendable, 1] == 0)
        #expect(try await farm.run("cancel", "c", "--app", "demo").status == 0)
        #expect(try await farm.finishedCampaign("c").state == .cancelled)
    }
}
