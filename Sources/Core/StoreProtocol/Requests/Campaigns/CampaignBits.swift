package import RedisProtocol

/// The bits of a campaign's devices: one string for each partition of the registry and chunk of 65,536 ordinals.
package enum CampaignBits: Hashable, Sendable {
    /// The devices whose push of the round was accepted, or that were counted as capped, excluded or unsendable. The first round
    /// is 1.
    case sent(round: Int)
    /// The devices that have reported that they are done.
    case done
    /// The devices whose first reward was counted.
    case rewarded
    /// The variants of the devices, not as bits: see `VariantAssignment`.
    case assigned

    /// The key of a chunk's bits, without the prefix of the app's keys.
    package func key(of campaign: String, partition: Int, chunk: Int) -> String {
        let place = "\(LeaseID.name(ofShard: partition)):\(chunk)"
        return switch self {
        case .sent(let round): "sent:\(campaign):\(round):\(place)"
        case .done: "done:\(campaign):\(place)"
        case .rewarded: "rewarded:\(campaign):\(place)"
        case .assigned: "assigned:\(campaign):\(place)"
        }
    }
}

/// Reads strings of an app. The keys are in the app's slot.
package struct ReadStrings: Request {
    package let words: [any CommandArgument]

    /// - Parameter keys: at least one key, without the prefix of the app's keys.
    package init(_ keys: [String]) {
        words = ["MGET", ArgumentList(keys.map { key in AppKey { $0.prefix + Array(key.utf8) } })]
    }

    /// The strings in the order of the keys; nil for a key that does not exist or is not a string.
    package static func read(_ value: RESPValue) throws(StoreError) -> [[UInt8]?] {
        guard let values = value.array else { throw .unexpectedReply("\(Self.self)") }
        return values.map(\.bytes)
    }
}

/// Makes a key of an app expire, unless the key already has an expiry.
package struct ExpireKey: Request {
    /// Whether the key got the expiry. False also if the key does not exist.
    package typealias Reply = Bool

    package let words: [any CommandArgument]

    /// - Parameter key: a key without the prefix of the app's keys.
    package init(_ key: String, seconds: Int) {
        words = ["EXPIRE", AppKey { $0.prefix + Array(key.utf8) }, seconds, "NX"]
    }
}

/// Marks devices of a campaign as done, and counts those that were not marked before. A repeated call changes nothing.
package struct MarkDone: Request {
    package enum Reply: Equatable, Sendable {
        case marked(Int)
        /// The campaign has no record. Nothing happened.
        case unknownCampaign
    }

    /// Devices of one chunk, by their ordinals in the chunk.
    package typealias Chunk = (partition: Int, chunk: Int, bits: [Int])

    package static var script: Script? { .markDone }

    package let words: [any CommandArgument]

    /// - Parameter chunks: devices in at most some thousand places.
    package init(token: FenceToken, campaign: String, chunks: [Chunk]) {
        let chunks: [any CommandArgument] = chunks.map { chunk in
            ArgumentList([
                CampaignBits.done.key(of: campaign, partition: chunk.partition, chunk: chunk.chunk),
                ArgumentList(chunk.bits, isCounted: true),
            ])
        }
        words = [ScriptKeys.prefix, token, campaign, ArgumentList(chunks)]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        let marked = try number(value)
        return marked < 0 ? .unknownCampaign : .marked(Int(clamping: marked))
    }
}

/// Reads the type of a key of an app.
package struct ReadKeyType: Request {
    package let words: [any CommandArgument]

    /// - Parameter key: a key without the prefix of the app's keys.
    package init(_ key: String) { words = ["TYPE", AppKey { $0.prefix + Array(key.utf8) }] }

    /// The type as Redis names it, such as `string`; `none` if the key does not exist.
    package static func read(_ value: RESPValue) throws(StoreError) -> String {
        guard let text = value.text else { throw .unexpectedReply("\(Self.self)") }
        return text
    }
}

/// Reads when a key of an app expires.
package struct ReadKeyExpiry: Request {
    package let words: [any CommandArgument]

    /// - Parameter key: a key without the prefix of the app's keys.
    package init(_ key: String) { words = ["PTTL", AppKey { $0.prefix + Array(key.utf8) }] }

    /// The time until the key expires; nil if it does not expire or does not exist.
    package static func read(_ value: RESPValue) throws(StoreError) -> Duration? {
        let rest = try number(value)
        return rest < 0 ? nil : .milliseconds(rest)
    }
}
