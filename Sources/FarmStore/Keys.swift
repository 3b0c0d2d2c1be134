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
    package let gate: [UInt8]
    package let jobs: [UInt8]
    package let states: [UInt8]
    package let results: [UInt8]
    package let events: [UInt8]
    package let refused: [UInt8]
    /// A hash: shard to the place of the last record in its suppression list.
    package let suppression: [UInt8]
    /// A hash: what the numbers in suppression records stand for.
    package let scopes: [UInt8]
    /// A hash: how the reading of the feedback service goes.
    package let feedback: [UInt8]
    /// A channel: shards that have batches, "NN NN …", or "*" for any; "s NN NN …": shards whose suppression lists have grown.
    package let bell: [UInt8]

    package init(app: String) {
        func key(_ name: String) -> [UInt8] { Array("{pushfarm:\(app)}:\(name)".utf8) }
        self.app = app
        inbox = Array("pushfarm:\(app)".utf8)
        prefix = key("")
        taken = key("taken")
        owners = key("owners")
        gate = key("gate")
        jobs = key("jobs")
        states = key("states")
        results = key("results")
        events = key("events")
        refused = key("refused")
        suppression = key("suppression")
        scopes = key("scopes")
        feedback = key("feedback")
        bell = key("bell")
    }

    /// A shard's suppression list, a stream.
    package func suppressed(_ shard: Int) -> [UInt8] {
        prefix + Array("suppressed:\(LeaseField.name(ofShard: shard))".utf8)
    }

    /// The account of a job, a hash.
    package func account(_ job: String) -> [UInt8] { prefix + Array("job:\(job)".utf8) }
}

/// The keys that all apps of a farm share.
package enum FarmKeys {
    /// A hash: what is fixed at the farm's first start.
    package static let farm = "{pushfarm}:farm"
    /// A hash: host to "end nonce capacity apps JSON"; the end of the line in ms, apps as "a,b".
    package static let hosts = "{pushfarm}:hosts"
    /// A set: apps that a coordinator was ever configured with.
    package static let apps = "{pushfarm}:apps"
    /// A channel: commands to the coordinators of all hosts.
    package static let commands = "{pushfarm}:commands"

    /// A string: the sealed provider token of a signing key.
    package static func provider(_ keyID: String) -> String { "{pushfarm}:provider:\(keyID)" }
}
