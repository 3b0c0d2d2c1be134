/// The keys of an app, precomputed. All are in one slot: the inbox's name is the others' hash tag.
package struct Keys: Hashable, Sendable {
    package let app: String
    /// `pushfarm:APP`, a list: jobs pushed by producers.
    package let inbox: [UInt8]
    /// `{pushfarm:APP}:`, before every other key; the first key of every script.
    package let prefix: [UInt8]
    /// A list: jobs that were moved out of the inbox and are not wholly split.
    package let taken: [UInt8]
    package let owners: [UInt8]
    package let admission: [UInt8]
    package let jobs: [UInt8]
    package let states: [UInt8]
    /// A hash: how many pushes are open, and have come to their end.
    package let load: [UInt8]
    package let delayed: [UInt8]
    /// A list: batches that wait until an operator resumes them.
    package let paused: [UInt8]
    /// Hashes: paused jobs, paused raw tokens, paused shards, and cancelled jobs, each with who asked for it and why.
    package let pausedJobs: [UInt8]
    package let pausedTokens: [UInt8]
    package let pausedShards: [UInt8]
    package let cancels: [UInt8]
    package let results: [UInt8]
    /// A hash: entries of the results stream that cannot be settled, and why.
    package let unsettled: [UInt8]
    /// A hash: originals of what cannot be read.
    package let unreadable: [UInt8]
    package let events: [UInt8]
    package let refused: [UInt8]
    /// A hash: how many jobs were refused, and how many were duplicates.
    package let refusals: [UInt8]
    /// A stream: dead letters.
    package let deadLetters: [UInt8]
    /// A hash: how many dead letters there are, and the bytes of the audit.
    package let deadLetterCounts: [UInt8]
    /// A stream: what became of pushes, if that is wanted.
    package let audit: [UInt8]
    /// A hash: shard to the place of the last record in its suppression list.
    package let suppression: [UInt8]
    /// A list: suppressions that are not applied until they are confirmed.
    package let unconfirmed: [UInt8]
    /// A hash: the last answers, counted by the guard.
    package let guardCounts: [UInt8]
    /// A hash: what the numbers in suppression records stand for.
    package let scopes: [UInt8]
    /// A hash: how the reading of the feedback service goes.
    package let feedback: [UInt8]
    /// A channel: shards that have batches, "NN NN …", or "*" for any; "s NN NN …": shards whose suppression lists have grown.
    package let wakeUps: [UInt8]

    package init(app: String) {
        func key(_ name: String) -> [UInt8] { Array("{pushfarm:\(app)}:\(name)".utf8) }
        self.app = app
        inbox = Array("pushfarm:\(app)".utf8)
        prefix = key("")
        taken = key("taken")
        owners = key("owners")
        admission = key("admission")
        jobs = key("jobs")
        states = key("states")
        load = key("load")
        delayed = key("delayed")
        paused = key("paused")
        pausedJobs = key("paused_jobs")
        pausedTokens = key("paused_tokens")
        pausedShards = key("paused_shards")
        cancels = key("cancels")
        results = key("results")
        unsettled = key("unsettled")
        unreadable = key("unreadable")
        events = key("events")
        refused = key("refused")
        refusals = key("refusals")
        deadLetters = key("dead_letters")
        deadLetterCounts = key("dead_letter_counts")
        audit = key("audit")
        suppression = key("suppression")
        unconfirmed = key("unconfirmed")
        guardCounts = key("guard")
        scopes = key("scopes")
        feedback = key("feedback")
        wakeUps = key("wakeups")
    }

    /// Lists: the batches of a shard that are ready, high before bulk, and those that workers have.
    func batchLists(_ shard: Int) -> [[UInt8]] {
        ["ready", "bulk", "in_flight"].map { prefix + Array("\($0):\(LeaseField.name(ofShard: shard))".utf8) }
    }

    /// A shard's suppression list, a stream.
    package func suppressed(_ shard: Int) -> [UInt8] {
        prefix + Array("suppressed:\(LeaseField.name(ofShard: shard))".utf8)
    }

    /// How far a replay of this name is, a hash.
    package func replay(_ name: String) -> [UInt8] { prefix + Array("replay:\(name)".utf8) }

    /// The job record of a job, a hash.
    package func jobRecord(_ job: String) -> [UInt8] { prefix + Array("job:\(job)".utf8) }
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
