/// The keys of an app, precomputed. All keys of an app are in one cluster slot, because the inbox's name is the hash tag of the
/// app's other keys.
package struct Keys: Hashable, Sendable {
    package let app: String
    /// A list, `pushfarm:APP`: jobs that producers pushed.
    package let inbox: [UInt8]
    /// The prefix of all other keys of the app, `{pushfarm:APP}:`. This prefix is the first key of every script.
    package let prefix: [UInt8]
    /// A list: jobs that the intake took from the inbox and has not completely split.
    package var taken: [UInt8] { key("taken") }
    package var owners: [UInt8] { key("owners") }
    package var admission: [UInt8] { key("admission") }
    package var jobs: [UInt8] { key("jobs") }
    package var states: [UInt8] { key("states") }
    /// A hash: the number of open pushes, and the number of pushes with an outcome.
    package var load: [UInt8] { key("load") }
    /// A hash: batches by batch id.
    var batches: [UInt8] { key("batches") }
    package var delayed: [UInt8] { key("delayed") }
    /// A list: batches that are paused until an operator resumes them.
    package var paused: [UInt8] { key("paused") }
    /// A hash: paused jobs, with who requested each pause and why.
    package var pausedJobs: [UInt8] { key("paused_jobs") }
    /// A hash: paused raw tokens, with who requested each pause and why.
    package var pausedTokens: [UInt8] { key("paused_tokens") }
    /// A hash: paused shards, with who requested each pause and why.
    package var pausedShards: [UInt8] { key("paused_shards") }
    /// A hash: cancelled jobs, with the time and the operator of each cancellation.
    package var cancels: [UInt8] { key("cancels") }
    /// A list: cancelled pushes with content of other campaigns, as `CancelledPushes` reads them.
    package var cancelledContent: [UInt8] { key("cancelled_content") }
    /// A hash: for each category of campaigns, the periods for which there are caps.
    package var capPeriods: [UInt8] { key("cap_periods") }
    package var results: [UInt8] { key("results") }
    /// A hash: for each entry of the results stream that cannot be settled, the reason.
    package var unsettled: [UInt8] { key("unsettled") }
    /// A hash: the original bytes of data that cannot be read.
    package var unreadable: [UInt8] { key("unreadable") }
    package var events: [UInt8] { key("events") }
    package var refused: [UInt8] { key("refused") }
    /// A hash: the number of refused jobs and the number of duplicate jobs.
    package var refusals: [UInt8] { key("refusals") }
    /// A hash: the step of the device intake, and the numbers of finished and of refused device inputs.
    /// A stream: refused device inputs.
    package var refusedDevices: [UInt8] { key("refused_devices") }
    /// The stream of dead letters.
    package var deadLetters: [UInt8] { key("dead_letters") }
    /// A hash: the number of dead letters, and the bytes of the audit of outcomes.
    package var deadLetterCounts: [UInt8] { key("dead_letter_counts") }
    /// A stream: the outcome of each push, if the audit of outcomes is enabled.
    package var audit: [UInt8] { key("audit") }
    /// A hash: for each shard, the last record of its suppression list.
    package var suppression: [UInt8] { key("suppression") }
    /// A list: suppressions that wait for confirmation.
    package var unconfirmed: [UInt8] { key("unconfirmed") }
    /// A hash: the guard's counts of the last responses.
    package var guardCounts: [UInt8] { key("guard") }
    /// A hash: the scopes by number. Suppression records contain the number in place of the scope.
    package var scopes: [UInt8] { key("scopes") }
    /// A hash: when the feedback service was read, and the results of reading it.
    package var feedback: [UInt8] { key("feedback") }
    /// A channel with two kinds of messages. "NN NN …": these shards have batches ("*": any shard may have batches). "s NN NN …":
    /// the suppression lists of these shards have grown.
    package var wakeUps: [UInt8] { key("wakeups") }
    /// A list: jobs with users or devices, whose tokens the intake has not looked up yet.
    package var lookups: [UInt8] { key("lookups") }
    /// A hash: the results of the variants of a series of campaigns.
    func variantResults(_ series: String) -> [UInt8] { key("variant_results:\(series)") }
    /// A list of inputs that producers push.
    func inputs(_ list: InputList) -> [UInt8] { key(list.rawValue) }
    /// A list: inputs that the intake took from ``inputs(_:)`` and has not completely applied.
    func takenInputs(_ list: InputList) -> [UInt8] { key("\(list.rawValue)_taken") }
    /// A sorted set: ids of campaigns, by the time of their creation in milliseconds.
    package var campaignIDs: [UInt8] { key("campaign_ids") }
    /// A hash: the format of the app's registry, and its number of partitions.
    package var registry: [UInt8] { key("registry") }
    /// A hash: the segments that operators saved, by name.
    package var segments: [UInt8] { key("segments") }
    /// A hash: the uploaded lists, by name.
    package var lists: [UInt8] { key("lists") }

    package init(app: String) {
        self.app = app
        inbox = Array("pushfarm:\(app)".utf8)
        prefix = Array("{pushfarm:\(app)}:".utf8)
    }

    /// The keys of a partition of the app's registry, which are in a slot of their own: the prefix is `{pushfarm:APP:rNN}:`. A
    /// partition has no inbox.
    package init(app: String, partition: Int) {
        self.init(app: "\(app):r\(LeaseID.name(ofShard: partition))")
    }

    private func key(_ name: String) -> [UInt8] { prefix + Array(name.utf8) }

    /// The lists of a shard: ready batches of lane high, ready batches of lane bulk, and batches that workers checked out.
    func batchLists(_ shard: Int) -> [[UInt8]] {
        ["ready", "bulk", "in_flight"].map { key("\($0):\(LeaseID.name(ofShard: shard))") }
    }

    /// The stream with a shard's suppression list.
    package func suppressed(_ shard: Int) -> [UInt8] {
        key("suppressed:\(LeaseID.name(ofShard: shard))")
    }

    /// The hash with the progress of the replay with this name.
    package func replay(_ name: String) -> [UInt8] { key("replay:\(name)") }

    /// The hash with the record of a campaign.
    package func campaign(_ id: String) -> [UInt8] { key("campaign:\(id)") }

    /// The string with a page of an uploaded list.
    func listPage(version: String, group: Int, page: Int) -> [UInt8] {
        key("list:\(version):\(group):\(page)")
    }

    /// The hash with the job record of a job.
    package func jobRecord(_ job: String) -> [UInt8] { key("job:\(job)") }
}

/// The keys that all apps of a farm share.
package enum FarmKeys {
    /// A hash: settings that are fixed when the farm first starts.
    package static let farm = "{pushfarm}:farm"
    /// The valid numbers of shards of a farm.
    package static let shards = 1...1024
    /// A hash: host to "end nonce capacity apps JSON". `end` is when the heartbeat expires, in milliseconds; `apps` are app
    /// names, such as "a,b"; `JSON` is the host's status.
    package static let hosts = "{pushfarm}:hosts"
    /// A set: all apps that any coordinator was ever configured with.
    package static let apps = "{pushfarm}:apps"
    /// A channel: messages to the coordinators of all hosts.
    package static let coordinators = "{pushfarm}:coordinators"
    /// A stream: the operations that operators requested, and the hosts' final replies.
    package static let operations = "{pushfarm}:operations"
    /// A channel: ids of operations to which hosts have replied.
    package static let replies = "{pushfarm}:replies"
    /// A hash: the desired state that operators set.
    package static let desired = "{pushfarm}:desired"

    /// A hash: `host:NAME` to "state text" of that host's reply; `start_deadline` to the deadline for hosts to start the operation.
    package static func operation(_ id: String) -> String { "{pushfarm}:operation:\(id)" }

    /// A hash: the active alerts, id to "level since text".
    package static let activeAlerts = "{pushfarm}:active_alerts"
    /// A stream: alerts that fired and alerts that cleared.
    package static let alerts = "{pushfarm}:alerts"

    /// A string: the sealed provider token of this identity.
    package static func provider(_ identity: ProviderTokenIdentity) -> String {
        "{pushfarm}:provider:\(identity.keyID):\(identity.teamID):\(identity.keyFingerprint.prefix(16))"
    }

    /// A sorted set of gateways. A gateway's score is the `iat` of the newest provider token that the gateway refused.
    package static func refusedProvider(_ identity: ProviderTokenIdentity) -> String {
        provider(identity) + ":refused"
    }
}

/// The identity of provider tokens: a key id, a team and a signing key. Identities that differ in one of these parts have separate
/// provider tokens.
package struct ProviderTokenIdentity: Hashable, Sendable, CustomStringConvertible {
    package let keyID: String
    package let teamID: String
    /// The hexadecimal fingerprint of the public key.
    package let keyFingerprint: String

    package init(keyID: String, teamID: String, keyFingerprint: String) {
        (self.keyID, self.teamID, self.keyFingerprint) = (keyID, teamID, keyFingerprint)
    }

    /// All three parts, not shortened: a pause names its credentials with this text, and a sealed provider token is bound to this
    /// text.
    package var description: String { "\(keyID) \(teamID) \(keyFingerprint)" }
}
