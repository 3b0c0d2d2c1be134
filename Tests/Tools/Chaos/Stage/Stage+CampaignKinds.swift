import ChaosChecker
import Foundation
import OpenSSL
import PushModel
import RedisProtocol

/// Campaigns with caps, with variants and with merged pushes. The times of all campaigns are divided by ``timeFactor``.
extension Stage {
    nonisolated static let timeFactor = 30

    /// Starts a campaign of one round. Of all campaigns of the category, each device gets at most one push.
    ///
    /// - Parameter fields: further JSON members.
    func startCapped(_ id: String, category: String, _ tokens: [String], _ fields: String) async throws {
        try await start(
            CampaignNote(id: id, tokens: tokens, rounds: 1, kind: .capped(category: category)),
            #""category":"\#(category)","caps":[{"pushes":1,"per":"week"}],\#(fields)"#)
    }

    /// Starts a campaign with the variants `a` and `b`.
    ///
    /// - Parameter fields: further JSON members.
    func startVariants(_ id: String, _ tokens: [String], rounds: Int, _ fields: String) async throws {
        let payloads = ["a", "b"].map { (name: $0, text: #"{"aps":{"alert":"\#($0) of \#(id)"}}"#) }
        let names = Dictionary(payloads.map { (Self.hash($0.text), $0.name) }) { first, _ in first }
        let variants = payloads.map { #"{"name":"\#($0.name)","payload":\#($0.text)}"# }
        try await create(
            CampaignNote(id: id, tokens: tokens, rounds: rounds, kind: .variants(names)),
            #""collapse_id":"\#(id)","variants":[\#(variants.joined(separator: ","))],\#(fields)"#)
    }

    /// Notes a merge group of two campaigns that repeat at least every 3 minutes.
    func addMerge(_ group: String, _ campaigns: [String]) {
        var payloads: [String: [String]] = [:]
        for contents in campaigns.map({ [$0] }) + [campaigns, campaigns.reversed()] {
            let parts = contents.map { #"{"campaign":"\#($0)","items":["/\#($0)"]}"# }
            let fetch = parts.joined(separator: ",")
            let text = #"{"aps":{"content-available":1},"merge":"\#(group)","fetch":[\#(fetch)]}"#
            payloads[Self.hash(text)] = contents
        }
        // A slot has 30 seconds.
        merges.append(
            MergeNote(
                id: group, campaigns: campaigns, payloads: payloads,
                gap: Int64(180_000 / Self.timeFactor), slotLength: Int64(30_000 / Self.timeFactor)))
    }

    /// Starts a campaign of background pushes, which are merged with the other campaigns of the group.
    ///
    /// - Parameter fields: further JSON members.
    func startMerged(
        _ id: String, in group: String, _ tokens: [String], rounds: Int, _ fields: String
    ) async throws {
        try await create(
            CampaignNote(id: id, tokens: tokens, rounds: rounds, kind: .merged),
            #""merge":"\#(group)","push_type":"background","#
                + #""payload":{"aps":{"content-available":1},"fetch":["/\#(id)"]},\#(fields)"#)
    }

    private static func hash(_ text: String) -> String {
        Hexadecimal.text(of: SHA256.hash(Array(text.utf8)))
    }

    /// Reports a reward of each token's device, and then a second reward, which must not count.
    func reward(_ tokens: ArraySlice<String>, of campaign: String) async throws {
        for reward in ["1", "0.5"] {
            let inputs = tokens.map {
                #"{"campaign":"\#(campaign)","device":"\#(Self.device($0))","reward":\#(reward)}"#
            }
            try await pushUntilAccepted(["RPUSH", "{pushfarm:demo}:rewards"] + inputs)
        }
    }

    /// Reads the slots of the merge groups that have none yet. The slots expire about 100 seconds after their pushes.
    ///
    /// - Returns: false if Redis does not reply.
    func readSlots() async -> Bool {
        guard let redis = try? await PlainRedis(redis.socket) else { return false }
        for place in merges.indices where merges[place].slots.isEmpty {
            let prefix = "{pushfarm:demo}:merged:\(merges[place].id):"
            guard let keys = try? await redis.call(["KEYS", prefix + "*"]).array?.compactMap(\.text),
                let values = try? await redis.call(keys.map { ["GET", $0] }), values.count == keys.count
            else { return false }
            // For each chunk and ordinal, the slots.
            var slots: [String: [Int64]] = [:]
            for (key, value) in zip(keys, values) {
                let parts = key.dropFirst(prefix.count).split(separator: ":", maxSplits: 1)
                guard parts.count == 2, let slot = Int64(parts[0]) else { continue }
                for ordinal in Self.ordinals(value.bytes ?? []) {
                    slots["\(parts[1]) \(ordinal)", default: []].append(slot)
                }
            }
            merges[place].slots = slots.values.map { $0.sorted() }
        }
        return true
    }

    /// The ordinals of a chunk: 65,536 bits, or a list of big-endian numbers of 16 bits (docs/internals/registry.md).
    private static func ordinals(_ bytes: [UInt8]) -> [Int] {
        guard bytes.count != 8192 else {
            return (0..<65_536).filter { bytes[$0 / 8] & (128 >> UInt8($0 % 8)) != 0 }
        }
        return stride(from: 0, to: bytes.count - 1, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
    }
}
