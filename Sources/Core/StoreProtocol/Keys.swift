/// The keys of an app, precomputed. All keys are in one slot, because the inbox's name is the hash tag of the other keys.
package struct Keys: Hashable, Sendable {
    package let app: String
    /// The list `pushfarm:APP`: jobs that producers pushed.
    package let inbox: [UInt8]
    /// The start of every other key, `{pushfarm:APP}:`. It is the first key of every script.
    package let prefix: [UInt8]
    /// A list: jobs that the intake moved out of the inbox and has not completely split.
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
    /// Hashes: paused jobs, paused raw tokens, paused shards, cancelled jobs. Each value says who requested the pause and why.
    package var pausedJobs: [UInt8] { key("paused_jobs") }
    package var pausedTokens: [UInt8] { key("paused_tokens") }
    package var pausedShards: [UInt8] { key("paused_shards") }
    package var cancels: [UInt8] { key("cancels") }
    package var results: [UInt8] { key("results") }
    /// A hash: entries of the results stream that cannot be settled, with the reason.
    package var unsettled: [UInt8] { key("unsettled") }
    /// A hash: the original bytes of data that cannot be read.
    package var unreadable: [UInt8] { key("unreadable") }
    package var events: [UInt8] { key("events") }
    package var refused: [UInt8] { key("refused") }
    /// A hash: the number of refused jobs and the number of duplicate jobs.
    package var refusals: [UInt8] { key("refusals") }
    /// The stream of dead letters.
    package var deadLetters: [UInt8] { key("dead_letters") }
    /// A hash: the number of dead letters, and the bytes of the audit of outcomes.
    package var deadLetterCounts: [UInt8] { key("dead_letter_counts") }
    /// A stream: the outcome of each push, if the audit of outcomes is enabled.
    package var audit: [UInt8] { key("audit") }
    /// A hash: each shard's last record in its suppression list.
    package var suppression: [UInt8] { key("suppression") }
    /// A list: suppressions that wait for confirmation.
    package var unconfirmed: [UInt8] { key("unconfirmed") }
    /// A hash: the guard's counts of the last responses.
    package var guardCounts: [UInt8] { key("guard") }
    /// A hash: the scope of each number in suppression records.
    package var scopes: [UInt8] { key("scopes") }
    /// A hash: the state of reading the feedback service.
    package var feedback: [UInt8] { key("feedback") }
    /// A channel: shards with batches, "NN NN …", or "*" for any shard; "s NN NN …": shards whose suppression lists have grown.
    package var wakeUps: [UInt8] { key("wakeups") }

    package init(app: String) {
        self.app = app
        inbox = Array("pushfarm:\(app)".utf8)
        prefix = Array("{pushfarm:\(app)}:".utf8)
    }

    private func key(_ name: String) -> [UInt8] { prefix + Array(name.utf8) }

    /// The lists of a shard: ready batches of lane high, ready batches of lane bulk, and batches that workers checked out.
    func batchLists(_ shard: Int) -> [[UInt8]] {
        ["ready", "bulk", "in_flight"].map { key("\($0):\(LeaseField.name(ofShard: shard))") }
    }

    /// The stream with a shard's suppression list.
    package func suppressed(_ shard: Int) -> [UInt8] {
        key("suppressed:\(LeaseField.name(ofShard: shard))")
    }

    /// The hash with the progress of the replay of this name.
    package func replay(_ name: String) -> [UInt8] { key("replay:\(name)") }

    /// The hash with the job record of a job.
    package func jobRecord(_ job: String) -> [UInt8] { key("job:\(job)") }
}

/// The keys that all apps of a farm share.
package enum FarmKeys {
    /// A hash: settings that are fixed when the farm first starts.
    package static let farm = "{pushfarm}:farm"
    /// The possible number of shards of a farm.
    package static let shards = 1...1024
    /// A hash: host to "end nonce capacity apps JSON". `end` is the heartbeat's end in milliseconds, `apps` are "a,b".
    package static let hosts = "{pushfarm}:hosts"
    /// A set: all apps that any coordinator was ever configured with.
    package static let apps = "{pushfarm}:apps"
    /// A channel: commands to the coordinators of all hosts.
    package static let commands = "{pushfarm}:commands"
    /// A stream: the operations that operators requested, and the hosts' final replies.
    package static let operations = "{pushfarm}:operations"
    /// A channel: ids of operations that hosts have replied to.
    package static let answers = "{pushfarm}:answers"
    /// A hash: the desired state that operators set.
    package static let desired = "{pushfarm}:desired"

    /// A hash: `host:NAME` to "state text"; `ends` is the deadline to start the operation.
    package static func operation(_ id: String) -> String { "{pushfarm}:operation:\(id)" }

    /// A hash: the active alerts, id to "level since text".
    package static let activeAlerts = "{pushfarm}:active_alerts"
    /// A stream: alerts that fired and alerts that cleared.
    package static let alerts = "{pushfarm}:alerts"

    /// A string: the sealed provider token for a key id, a team and a signing key.
    package static func provider(_ owner: ProviderTokenOwner) -> String {
        "{pushfarm}:provider:\(owner.keyID):\(owner.teamID):\(owner.keyFingerprint.prefix(16))"
    }

    /// A sorted set: gateways, by the `iat` of the newest of these provider tokens that the gateway refused.
    package static func refusedProvider(_ owner: ProviderTokenOwner) -> String {
        provider(owner) + ":refused"
    }
}

/// The owner of provider tokens: a key id, a team and a signing key. Another team or key means other provider tokens.
package struct ProviderTokenOwner: Hashable, Sendable, CustomStringConvertible {
    package let keyID: String
    package let teamID: String
    /// The hexadecimal fingerprint of the public key.
    package let keyFingerprint: String

    package init(keyID: String, teamID: String, keyFingerprint: String) {
        (self.keyID, self.teamID, self.keyFingerprint) = (keyID, teamID, keyFingerprint)
    }

    /// All three parts in full: this text names the credentials of a pause, and a sealed provider token is bound to it.
    package var description: String { "\(keyID) \(teamID) \(keyFingerprint)" }
}
