package import RedisProtocol

/// Reads the record of a campaign.
package struct ReadCampaign: Request {
    package let words: [any CommandArgument]

    package init(_ campaign: String) { words = ["HGETALL", AppKey { $0.campaign(campaign) }] }

    /// The record's fields, for `CampaignRecord`; empty if there is no record.
    package static func read(_ value: RESPValue) throws(StoreError) -> [String: [UInt8]] {
        guard value.array != nil else { throw .unexpectedReply("\(Self.self)") }
        return Dictionary(
            value.pairs.map { ($0.name.text ?? "", $0.value.bytes ?? []) },
            uniquingKeysWith: { first, _ in first })
    }
}

/// Reads ids of campaigns, latest first. The record of a returned id may have expired.
package struct LatestCampaigns: Request {
    package typealias Reply = [String]

    package let words: [any CommandArgument]

    /// - Parameter start: number of latest campaigns to skip.
    package init(from start: Int = 0, count: Int) {
        words = ["ZREVRANGE", AppKey(\.campaignIDs), start, start + count - 1]
    }
}

/// Removes the ids of campaigns whose records have expired.
package struct ForgetCampaigns: Request {
    package typealias Reply = Int

    package let words: [any CommandArgument]

    /// - Parameter campaigns: at least one id.
    package init(_ campaigns: [String]) {
        words = ["ZREM", AppKey(\.campaignIDs), ArgumentList(campaigns)]
    }
}

/// Reads one field of a campaign's record.
package struct ReadCampaignField: Request {
    package let words: [any CommandArgument]

    package init(_ campaign: String, _ field: String) {
        words = ["HGET", AppKey { $0.campaign(campaign) }, field]
    }

    /// The value; nil if the record or the field does not exist.
    package static func read(_ value: RESPValue) throws(StoreError) -> String? { value.text }
}

/// Reads which jobs are paused or cancelled.
package struct ReadJobMarks: Request {
    package enum Kind: Sendable {
        /// Paused by an operator, or quarantined.
        case paused
        /// Cancelled, now or from a later time on.
        case cancelled
    }

    package let words: [any CommandArgument]

    /// - Parameter jobs: at least one job.
    package init(_ kind: Kind, jobs: [String]) {
        words = ["HMGET", kind == .paused ? AppKey(\.pausedJobs) : AppKey(\.cancels), ArgumentList(jobs)]
    }

    /// For each job, the time in Unix milliseconds from which the mark applies; 0 for a pause. Nil for a job without a mark.
    package static func read(_ value: RESPValue) throws(StoreError) -> [Int64?] {
        guard let values = value.array else { throw .unexpectedReply("\(Self.self)") }
        return values.map { value in
            // A cancel is stored as "ms of the command, ms of its effect, seconds to keep the record, operator".
            value.text.map { text in
                let words = text.split(separator: " ")
                return words.count >= 4 ? Int64(foreign: words[1]) ?? 0 : 0
            }
        }
    }
}
