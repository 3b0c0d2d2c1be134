package import RedisProtocol

/// Counts the first rewards of devices of a campaign, for their variants. A repeated call changes nothing.
package struct MarkRewards: Request {
    package enum Reply: Equatable, Sendable {
        /// This number of devices had no earlier reward.
        case counted(Int)
        /// The campaign has no record. Nothing happened.
        case unknownCampaign
    }

    /// The reward of one device.
    package struct Reward: Equatable, Sendable {
        /// The ordinal in the chunk, 0...65,535.
        package let ordinal: Int
        /// The field of the device's variant, as `RewardTally.Number` names it.
        package let field: String
        package let thousandths: Int64

        package init(ordinal: Int, field: String, thousandths: Int64) {
            (self.ordinal, self.field, self.thousandths) = (ordinal, field, thousandths)
        }
    }

    /// Rewards of devices of one chunk.
    package typealias Chunk = (partition: Int, chunk: Int, rewards: [Reward])

    package static var script: Script? { .markRewards }

    package let words: [any CommandArgument]

    /// - Parameter chunks: at most some hundred rewards.
    package init(token: FenceToken, campaign: String, chunks: [Chunk]) {
        let chunks: [any CommandArgument] = chunks.map { chunk in
            ArgumentList([
                CampaignBits.rewarded.key(of: campaign, partition: chunk.partition, chunk: chunk.chunk),
                chunk.rewards.count,
                ArgumentList(
                    chunk.rewards.flatMap { [$0.ordinal, $0.field, $0.thousandths] as [any CommandArgument] }),
            ])
        }
        words = [ScriptKeys.prefix, token, campaign, ArgumentList(chunks)]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        let counted = try number(value)
        return counted < 0 ? .unknownCampaign : .counted(Int(clamping: counted))
    }
}

/// Reads numbers of variants, from the record of a campaign or from the results of a series.
package struct ReadVariantNumbers: Request {
    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - series: the series whose results are read; nil for the campaign's own.
    ///   - fields: at least one field, as `RewardTally.Number` names it.
    package init(campaign: String, series: String?, fields: [String]) {
        let key =
            series.map { name in AppKey { $0.variantResults(name) } } ?? AppKey { $0.campaign(campaign) }
        words = ["HMGET", key, ArgumentList(fields)]
    }

    /// The values of the fields in their order; nil for a field that does not exist.
    package static func read(_ value: RESPValue) throws(StoreError) -> [[UInt8]?] {
        guard let values = value.array else { throw .unexpectedReply("\(Self.self)") }
        return values.map(\.bytes)
    }
}
