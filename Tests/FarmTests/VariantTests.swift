import Campaigns
import FarmHarness
import Foundation
import OpenSSL
import PushModel
import StoreProtocol
import Testing
import Variants

/// Campaigns with variants: the simulator's ledger shows which variant each device got.
@Suite(.startsProcesses(limit: .seconds(400))) struct VariantTests {
    private static let names = ["a", "b"]

    private static func payload(_ name: String) -> String { #"{"aps":{"alert":"\#(name)"}}"# }

    private static func definition(_ id: String, _ fields: String) -> String {
        let variants = names.map { #"{"name":"\#($0)","payload":\#(payload($0))}"# }.joined(separator: ",")
        return #"{"id":"\#(id)","segment":"all","variants":[\#(variants)],\#(fields)}"#
    }

    private static func farm(_ tokens: [String], _ options: Farm.Options = .init()) async throws -> Farm {
        let farm = try await Farm(options)
        _ = try await farm.ready()
        try farm.push(devices: tokens.enumerated().map { #"{"id":"d-\#($0)","token":"\#($1)"}"# })
        try await farm.devicesFinished()
        return farm
    }

    /// The variants that tokens got, in order of delivery.
    private static func variants(of farm: Farm) throws -> [String: [String]] {
        let hashes = Dictionary(
            uniqueKeysWithValues: names.map {
                (Hexadecimal.text(of: SHA256.hash(Array(payload($0).utf8))), $0)
            })
        var found: [String: [String]] = [:]
        for line in try farm.gateway.ledger().lines where line.status == 200 {
            guard let token = line.token else { continue }
            found[token, default: []].append(line.bodySha256.flatMap { hashes[$0] } ?? "another payload")
        }
        return found
    }

    private static func tally(_ record: CampaignRecord) -> RewardTally {
        RewardTally(variants: names, fields: record.variantFields)
    }

    private static func reward(_ device: Int, of campaign: String, _ reward: String = "1") -> String {
        #"{"campaign":"\#(campaign)","device":"d-\#(device)","reward":\#(reward)}"#
    }

    private static func killIntake(of farm: Farm) async throws {
        let intake = try await eventually("the intake runs") {
            farm.coordinator.descendants.first { ProcessTable.isAbout("intake", $0) }
        }
        farm.kill(child: intake)
    }

    @Test func `after an exploration, most devices get the variant with rewards, despite a kill`()
        async throws
    {
        let tokens = Tokens.make(2_000, seed: 31)
        let farm = try await Self.farm(tokens)
        let learning = #""allocation":"epsilon-greedy","epsilon":0.05,"holdout":"10 %","rate":5000"#
        let explore = #""explore":{"share":"20 %","wait":"20s"}"#
        try farm.push(campaign: Self.definition("c", "\(learning),\(explore)"))
        try await eventually("the exploration is sent") {
            try farm.campaign("c")?.progress?.groups.contains { group in
                if case .gated = group.phase { true } else { false }
            } ?? false
        }
        let explored = try #require(try farm.campaign("c"))
        let sent = explored.counts.total(.accepted)
        try await eventually("the pushes are delivered") {
            try farm.gateway.ledger().deliveries.count == sent
        }
        let before = try Self.variants(of: farm)
        let rewarded = tokens.indices.filter { before[tokens[$0]] == ["b"] }
        #expect(abs(rewarded.count * 2 - sent) < sent / 4)
        // Each device has two rewards, and the second reward differs. Other rewards are refused.
        for number in rewarded { try farm.push(reward: Self.reward(number, of: "c")) }
        try await Self.killIntake(of: farm)
        for number in rewarded { try farm.push(reward: Self.reward(number, of: "c", "0.5")) }
        let unsent = try #require(tokens.indices.first { before[tokens[$0]] == nil })
        for bad in [
            "x", Self.reward(1, of: "unknown"), Self.reward(99_999, of: "c"),
            Self.reward(unsent, of: "c", "2"),
        ] { try farm.push(reward: bad) }

        let record = try await farm.finishedCampaign("c")
        _ = try await farm.finished("c")
        let (tally, after) = (Self.tally(record), try Self.variants(of: farm))
        for (entry, name) in zip(tally.variants, Self.names) {
            #expect(entry.pulls == after.values.count { $0 == [name] }, "\(name)")
        }
        #expect(after.count == record.counts[.accepted, 1] && after.values.allSatisfy { $0.count == 1 })
        #expect(tally.holdout.pulls == tokens.count - after.count)
        #expect(tally.holdout.pulls == record.counts[.excluded, 1])
        #expect(abs(tally.holdout.pulls - 200) < 60)
        try await eventually("all rewards are counted") {
            try farm.campaign("c").map(Self.tally)?.variants[1].rewards == Double(rewarded.count)
        }
        #expect(try farm.campaign("c").map(Self.tally)?.variants[0].rewards == 0)
        let learned = after.filter { before[$0.key] == nil }
        #expect(learned.values.count { $0 == ["b"] } > learned.count * 8 / 10)
        _ = try await farm.event("reward.refused", number: 4)
        #expect(
            try farm.events("reward.refused").map { $0["field"] } == [
                "reward", "campaign", "device", "reward",
            ])
        let shown = try await farm.run("campaigns", "show", "c", "--app", "demo")
        #expect(shown.status == 0 && shown.output.contains("(holdout)"))
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `a device keeps its variant in all rounds, and a series remembers its results`() async throws {
        let tokens = Tokens.make(400, seed: 32)
        let farm = try await Self.farm(tokens, .init(environment: ["PUSHFARM_TIME_FACTOR": "30"]))
        let repetition = #""spread":"30s","repeat":{"every":"1m","until":"done","max":3}"#
        let learning = #""allocation":"thompson","series":"s","holdout":"25 %""#
        try farm.push(campaign: Self.definition("one", "\(learning),\(repetition)"))
        try await eventually("the first round is sent") {
            try farm.campaign("one")?.progress?.groups.first?.round ?? 0 > 1
        }
        try await Self.killIntake(of: farm)
        let first = try await farm.finishedCampaign("one")
        _ = try await farm.finished("one")
        let rounds = try Self.variants(of: farm)
        #expect(rounds.values.allSatisfy { Set($0).count == 1 && $0.count == 3 })
        #expect(Self.tally(first).variants.map(\.pulls).reduce(0, +) == rounds.count)
        for round in 1...3 { #expect(first.counts[.excluded, round] == tokens.count - rounds.count) }

        // The series has results of more than 100 devices of each variant, so the next campaign explores nothing.
        let explore = #""explore":{"share":"50 %","wait":"10m"}"#
        try farm.push(campaign: Self.definition("two", "\(learning),\(explore),\"rate\":5000"))
        let second = try await farm.finishedCampaign("two")
        #expect(second.skipsExplore && second.resultsSeries == "s")
        _ = try await farm.finished("two")
        // Both campaigns hold out the same devices.
        #expect(Set(try Self.variants(of: farm).keys) == Set(rounds.keys))
        let series = try farm.redis.client().run(
            "HGET", "{pushfarm:demo}:variant_results:s", "pulls:@holdout")
        #expect(series.text == "\(2 * (tokens.count - rounds.count))")
    }

    @Test func `the Redis users have the rights that rewards need`() async throws {
        let farm = try await Self.farm(Tokens.make(40, seed: 33), .init(usersPassword: "a-password"))
        try farm.push(campaign: Self.definition("c", #""rate":1000,"series":"s""#))
        _ = try await farm.finishedCampaign("c")
        for number in 0..<40 { try farm.push(reward: Self.reward(number, of: "c")) }
        try await eventually("the rewards are counted") {
            try farm.campaign("c").map(Self.tally)?.variants.map(\.rewards).reduce(0, +) == 40
        }
    }
}

extension Farm {
    /// Pushes a reward as a producer does.
    fileprivate func push(reward: String) throws {
        try redis.client().run("RPUSH", "{pushfarm:demo}:rewards", reward)
    }
}
