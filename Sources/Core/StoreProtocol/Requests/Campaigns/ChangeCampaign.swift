package import RedisProtocol

/// How a campaign ends. The raw value is the final state in the campaign's record.
package enum CampaignEnding: String, CaseIterable, Sendable {
    /// All pushes are accepted. The job record shows their outcomes.
    case finished
    case cancelled
    /// The campaign could not start, for example because its audience does not fit into its window.
    case refused
}

/// Creates a campaign, or changes its record if it has an expected state. If the reply is lost, the same call may be repeated.
package struct ChangeCampaign: Request {
    package enum Reply: Equatable, Sendable {
        /// The change is done, by this call or by an earlier call with the same name.
        case done(state: String)
        /// The campaign has another state than expected; empty if it does not exist. Nothing happened.
        case differs(state: String)
    }

    /// A name and a value of the campaign's record.
    package typealias Field = (name: String, value: String)

    package static var script: Script? { .changeCampaign }

    package let words: [any CommandArgument]

    private init(
        _ campaign: String, token: FenceToken?, name: String, from states: String,
        to state: String,
        reason: String = "", keep: Int = Retention().jobRecordSeconds, fields: [Field] = []
    ) {
        words = [
            ScriptKeys.prefix, token, campaign, name, states,
            state, reason, keep, ArgumentList(fields.flatMap { [$0.name, $0.value] }),
        ]
    }

    /// Creates a campaign.
    ///
    /// - Parameters:
    ///   - name: a name that no other change of a campaign has.
    ///   - isDraft: whether the campaign waits for ``start(_:name:)``. Otherwise it is scheduled.
    /// - Throws: the request fails with `StoreError.exists` if a job with this id is open or younger than 24 hours.
    package static func create(
        _ campaign: String, token: FenceToken? = nil, name: String, isDraft: Bool, fields: [Field]
    ) -> ChangeCampaign {
        ChangeCampaign(
            campaign, token: token, name: name, from: "", to: isDraft ? "draft" : "scheduled", fields: fields)
    }

    /// Schedules a draft.
    package static func start(_ campaign: String, name: String, fields: [Field] = []) -> ChangeCampaign {
        ChangeCampaign(campaign, token: nil, name: name, from: "draft", to: "scheduled", fields: fields)
    }

    /// Stores fields of a campaign that has no final state, such as its rate.
    package static func set(_ campaign: String, name: String, fields: [Field]) -> ChangeCampaign {
        ChangeCampaign(
            campaign, token: nil, name: name, from: "draft scheduled running", to: "", fields: fields)
    }

    /// Stores fields of a scheduled campaign, for the owner of the app's intake.
    package static func note(
        _ campaign: String, token: FenceToken, name: String, fields: [Field]
    ) -> ChangeCampaign {
        ChangeCampaign(campaign, token: token, name: name, from: "scheduled", to: "", fields: fields)
    }

    /// Cancels a draft. Other campaigns have a job record and are cancelled like jobs.
    package static func cancelDraft(_ campaign: String, name: String) -> ChangeCampaign {
        ChangeCampaign(campaign, token: nil, name: name, from: "draft", to: "cancelled")
    }

    /// Makes a scheduled campaign run, for the owner of the app's intake.
    package static func begin(
        _ campaign: String, token: FenceToken, name: String, fields: [Field]
    ) -> ChangeCampaign {
        ChangeCampaign(campaign, token: token, name: name, from: "scheduled", to: "running", fields: fields)
    }

    /// Ends a campaign that runs or waits for its start, for the owner of the app's intake. The campaign adds no more pushes.
    ///
    /// - Parameters:
    ///   - keep: how long to keep the job record after the job is finished, in seconds.
    package static func end(
        _ campaign: String, token: FenceToken, name: String, as ending: CampaignEnding, reason: String,
        keep: Int
    ) -> ChangeCampaign {
        ChangeCampaign(
            campaign, token: token, name: name, from: "scheduled running", to: ending.rawValue,
            reason: reason,
            keep: keep)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let isDone = try reader.flag()
        let state = try reader.text()
        return isDone ? .done(state: state) : .differs(state: state)
    }
}
