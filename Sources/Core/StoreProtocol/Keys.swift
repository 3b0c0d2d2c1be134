/// The keys of an app, precomputed. All are in one slot: the inbox's name is the others' hash tag.
package struct Keys: Hashable, Sendable {
    package let app: String
    /// `pushfarm:APP`, a list: jobs pushed by producers.
    package let inbox: [UInt8]
    /// `{pushfarm:APP}:`, before every other key; the first key of every script.
    package let prefix: [UInt8]
    /// A list: jobs that were moved out of the inbox and are not wholly split.
    package var taken: [UInt8] { key("taken") }
    package var owners: [UInt8] { key("owners") }
    package var admission: [UInt8] { key("admission") }
    package var jobs: [UInt8] { key("jobs") }
    package var states: [UInt8] { key("states") }
    /// A hash: how many pushes are open, and have come to their end.
    package var load: [UInt8] { key("load") }
    /// A hash: batches by id.
    var batches: [UInt8] { key("batches") }
    package var delayed: [UInt8] { key("delayed") }
    /// A list: batches that wait until an operator resumes them.
    package var paused: [UInt8] { key("paused") }
    /// Hashes: paused jobs, paused raw tokens, paused shards, and cancelled jobs, each with who asked for it and why.
    package var pausedJobs: [UInt8] { key("paused_jobs") }
    package var pausedTokens: [UInt8] { key("paused_tokens") }
    package var pausedShards: [UInt8] { key("paused_shards") }
    package var cancels: [UInt8] { key("cancels") }
    package var results: [UInt8] { key("results") }
    /// A hash: entries of the results stream that cannot be settled, and why.
    package var unsettled: [UInt8] { key("unsettled") }
    /// A hash: originals of what cannot be read.
    package var unreadable: [UInt8] { key("unreadable") }
    package var events: [UInt8] { key("events") }
    package var refused: [UInt8] { key("refused") }
    /// A hash: how many jobs were refused, and how many were duplicates.
    package var refusals: [UInt8] { key("refusals") }
    /// A stream: dead letters.
    package var deadLetters: [UInt8] { key("dead_letters") }
    /// A hash: how many dead letters there are, and the bytes of the audit.
    package var deadLetterCounts: [UInt8] { key("dead_letter_counts") }
    /// A stream: what became of pushes, if that is wanted.
    package var audit: [UInt8] { key("audit") }
    /// A hash: shard to the place of the last record in its suppression list.
    package var suppression: [UInt8] { key("suppression") }
    /// A list: suppressions that are not applied until they are confirmed.
    package var unconfirmed: [UInt8] { key("unconfirmed") }
    /// A hash: the last answers, counted by the guard.
    package var guardCounts: [UInt8] { key("guard") }
    /// A hash: what the numbers in suppression records stand for.
    package var scopes: [UInt8] { key("scopes") }
    /// A hash: how the reading of the feedback service goes.
    package var feedback: [UInt8] { key("feedback") }
    /// A channel: shards that have batches, "NN NN …", or "*" for any; "s NN NN …": shards whose suppression lists have grown.
    package var wakeUps: [UInt8] { key("wakeups") }

    package init(app: String) {
        self.app = app
        inbox = Array("pushfarm:\(app)".utf8)
        prefix = Array("{pushfarm:\(app)}:".utf8)
    }

    private func key(_ name: String) -> [UInt8] { prefix + Array(name.utf8) }

    /// Lists: the batches of a shard that are ready, high before bulk, and those that workers have.
    func batchLists(_ shard: Int) -> [[UInt8]] {
        ["ready", "bulk", "in_flight"].map { key("\($0):\(LeaseField.name(ofShard: shard))") }
    }

    /// A shard's suppression list, a stream.
    package func suppressed(_ shard: Int) -> [UInt8] {
        key("suppressed:\(LeaseField.name(ofShard: shard))")
    }

    /// How far a replay of this name is, a hash.
    package func replay(_ name: String) -> [UInt8] { key("replay:\(name)") }

    /// The job record of a job, a hash.
    package func jobRecord(_ job: String) -> [UInt8] { key("job:\(job)") }
}

/// The keys that all apps of a farm share.
package enum FarmKeys {
    /// A hash: what is fixed at the farm's first start.
    package static let farm = "{pushfarm}:farm"
    /// How many shards a farm can have.
    package static let shards = 1...1024
    /// A hash: host to "end nonce capacity apps JSON"; the end of the line in ms, apps as "a,b".
    package static let hosts = "{pushfarm}:hosts"
    /// A set: apps that a coordinator was ever configured with.
    package static let apps = "{pushfarm}:apps"
    /// A channel: commands to the coordinators of all hosts.
    package static let commands = "{pushfarm}:commands"
    /// A stream: what operators said, and the hosts' last answers.
    package static let operations = "{pushfarm}:operations"
    /// A channel: ids of operations that were answered.
    package static let answers = "{pushfarm}:answers"
    /// A hash: what operators want to last.
    package static let desired = "{pushfarm}:desired"

    /// A hash: `host:NAME` to "state text"; `ends`, until when it may be begun.
    package static func operation(_ id: String) -> String { "{pushfarm}:operation:\(id)" }

    /// A hash: active alerts, id to "level since text".
    package static let activeAlerts = "{pushfarm}:active_alerts"
    /// A stream: alerts that were raised and called off.
    package static let alerts = "{pushfarm}:alerts"

    /// A string: the sealed provider token of a key id, a team and a signing key.
    package static func provider(_ owner: ProviderTokenOwner) -> String {
        "{pushfarm}:provider:\(owner.keyID):\(owner.teamID):\(owner.keyFingerprint.prefix(16))"
    }

    /// A sorted set: gateways, by the `iat` of the newest of these provider tokens that each has refused.
    package static func refusedProvider(_ owner: ProviderTokenOwner) -> String {
        provider(owner) + ":refused"
    }
}
