import Campaigns
import FarmHarness
import Foundation
import OpenSSL
import PushModel
import Scheduling
import StoreProtocol
import Testing

/// Campaigns of a merge group: a device gets one push with the content of all campaigns that are due for it.
@Suite(.startsProcesses(limit: .seconds(300))) struct MergedCampaignTests {
    private static let tokens = Tokens.make(900, seed: 61)

    /// The campaigns of a device: two thirds of the devices read `ed-1`, and two thirds read `ed-2`.
    private static func campaigns(of number: Int) -> [String] {
        [["ed-1"], ["ed-2"], ["ed-1", "ed-2"]][number % 3]
    }

    private static func definition(
        _ id: String, tag: String? = nil, group: String = "editions", _ fields: String
    ) -> String {
        #"{"id":"\#(id)","segment":"tag:\#(tag ?? id)","push_type":"background","merge":"\#(group)","spread":"45s","#
            + #""payload":{"aps":{"content-available":1},"fetch":["/\#(id)"]},\#(fields)}"#
    }

    /// The hash of the payload with the content of these campaigns, as the simulator's ledger has it.
    private static func hash(_ campaigns: [String], group: String = "editions") -> String {
        let content = campaigns.map { #"{"campaign":"\#($0)","items":["/\#($0)"]}"# }.joined(separator: ",")
        let payload = #"{"aps":{"content-available":1},"merge":"\#(group)","fetch":[\#(content)]}"#
        return Hexadecimal.text(of: SHA256.hash(Array(payload.utf8)))
    }

    @Test func `two editions share the pushes of their devices, despite kills, until one is done`()
        async throws
    {
        // A factor of 15 turns 2 minutes between two rounds into 8 seconds.
        let farm = try await Farm(.init(environment: ["PUSHFARM_TIME_FACTOR": "15"]))
        _ = try await farm.ready()
        try farm.push(
            devices: Self.tokens.enumerated().map { number, token in
                let tags = Self.campaigns(of: number).map { "\"\($0)\"" }.joined(separator: ",")
                return #"{"id":"d-\#(number)","token":"\#(token)","tags":[\#(tags)]}"#
            })
        try await farm.devicesFinished()
        // Both editions start in about two seconds, so that they are due in the same rounds.
        let start = Int(Date().timeIntervalSince1970) + 2
        let times = #""start_at":\#(start),"repeat":{"every":"2m","until":"done","max":2}"#
        let second = try farm.folder.write(
            Self.definition("ed-2", #"\#(times),"merge_priority":5"#), to: "ed-2.json")
        try farm.push(campaign: Self.definition("ed-1", times))
        try await eventually("the first edition exists") { try farm.campaign("ed-1") != nil }
        let planned = try await farm.run("campaigns", "plan", second, "--app", "demo")
        #expect(planned.output.contains("merged with  ed-1"), "\(planned)")
        #expect(try await farm.run("campaigns", "create", second, "--app", "demo", "--start").status == 0)
        // The first kill is in the middle of the first round, and the second kill in the second round.
        try await eventually("the first round has begun") { try Self.accepted(farm) > 200 }
        try await farm.killIntake()
        try await eventually("the first round has ended") { try Self.accepted(farm) == Self.tokens.count }
        // All devices are done with the second edition. The second round has only the content of the first edition.
        try farm.push(done: (0..<900).map { "d-\($0)" }, of: "ed-2")
        try await eventually("the second round has begun") {
            try Self.accepted(farm) > Self.tokens.count + 100
        }
        try await farm.killIntake()
        var records: [CampaignRecord] = []
        for id in ["ed-1", "ed-2"] {
            records.append(try await farm.finishedCampaign(id))
            _ = try await farm.finished(id)
        }
        for (record, rounds) in zip(records, [2, 1]) {
            for round in 1...rounds {
                let count = { (kind: CampaignCounts.Kind) in record.counts[kind, round] }
                #expect(count(.audience) == 600 && count(.accepted) + count(.merged) == 600)
            }
        }
        let merged = records.reduce(0) { $0 + $1.counts.total(.merged) }
        #expect(merged == 300, "each of the 300 devices of both editions got one merged push: \(merged)")
        try checkLedger(farm)
        let shown = try await farm.run("campaigns", "show", "ed-1", "--app", "demo")
        #expect(
            shown.output.contains("merge group editions, priority 0, with no other campaign now"), "\(shown)")
        #expect(shown.output.contains("MERGED"))
        for key in try farm.redis.client().run("KEYS", "{pushfarm:demo}:merged:*").array ?? [] {
            #expect(try farm.redis.client().run("TTL", key.text ?? "").integer ?? 0 > 0, "\(key)")
        }
        #expect(try await farm.run("debug", "fsck").status == 0)
        try await cancelOneOfTwo(farm)
    }

    /// Cancels a campaign before any of its pushes is sent. The content of the other campaign goes out.
    private func cancelOneOfTwo(_ farm: Farm) async throws {
        let before = try farm.gateway.ledger().lines.count
        #expect(try await farm.run("pause", "demo").status == 0)
        for (id, tag) in [("late-1", "ed-1"), ("late-2", "ed-2")] {
            try farm.push(campaign: Self.definition(id, tag: tag, group: "late", #""priority":5"#))
        }
        for id in ["late-1", "late-2"] {
            try await eventually("\(id) has added its pushes") { try farm.campaign(id)?.state == .finished }
        }
        let late = try #require(try farm.campaign("late-2"))
        #expect(late.counts.total(.merged) > 0)
        #expect(try await farm.run("campaigns", "cancel", "late-1", "--app", "demo").status == 0)
        _ = try await farm.finished("late-1")
        #expect(try await farm.run("resume", "demo").status == 0)
        try await eventually("all devices of the second campaign got its content") {
            try farm.gateway.ledger().lines.count >= before + 600
        }
        var pushes: [String: [String]] = [:]
        for line in try farm.gateway.ledger().lines.dropFirst(before) {
            if let token = line.token, let hash = line.bodySha256 { pushes[token, default: []].append(hash) }
        }
        let wanted = [Self.hash(["late-2"], group: "late"), Self.hash(["late-1", "late-2"], group: "late")]
        for (number, token) in Self.tokens.enumerated() {
            let isIn = Self.campaigns(of: number).contains("ed-2")
            #expect(
                pushes[token]?.count == (isIn ? 1 : nil) && pushes[token]?.allSatisfy(wanted.contains) ?? true
            )
        }
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    private static func accepted(_ farm: Farm) throws -> Int {
        try ["ed-1", "ed-2"].reduce(0) { try $0 + (farm.campaign($1)?.counts.total(.accepted) ?? 0) }
    }

    /// Counts the pushes of each device and content at the gateway.
    private func checkLedger(_ farm: Farm) throws {
        var pushes: [String: [String: Int]] = [:]
        for line in try farm.gateway.ledger().lines {
            guard let token = line.token, let hash = line.bodySha256 else { continue }
            pushes[token, default: [:]][hash, default: 0] += 1
        }
        let both = Self.hash(["ed-2", "ed-1"])
        for (number, token) in Self.tokens.enumerated() {
            let wanted =
                switch Self.campaigns(of: number) {
                case ["ed-1"]: [Self.hash(["ed-1"]): 2]
                case ["ed-2"]: [Self.hash(["ed-2"]): 1]
                default: [both: 1, Self.hash(["ed-1"]): 1]
                }
            #expect(pushes[token] == wanted, "d-\(number): \(pushes[token] ?? [:])")
        }
    }
}
