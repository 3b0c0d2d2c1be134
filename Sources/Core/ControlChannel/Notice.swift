/// A notice of a worker to its coordinator.
package enum Notice: Equatable, Sendable {
    /// Connected to Redis and ready for shards.
    case hello(pid: Int32)
    /// Still alive, and its numbers.
    case heartbeat(Heartbeat)
    /// Results of this app wait to be settled.
    case reported(app: String)
    /// The gateway said something about the app that concerns more than one push.
    case doubt(app: String, Doubt, generation: UInt32, reason: String)
    /// The gateway accepted the credentials of this generation.
    case proved(app: String, generation: UInt32)
    /// Redis says that a shard of this app is not ours, though it was not withdrawn: the worker starts nothing more,
    /// and ends with status 75.
    case fenced(app: String)
    /// Shards that an order withdrew: the worker holds no batch of them any more.
    case released(app: String, shards: [UInt16])
    /// A gateway that says nothing of what it accepts said later than ever that so many pushes, counted as delivered, were lost.
    case late(app: String, pushes: UInt32, reason: String)
    /// A reading of the feedback service is over: how many tuples Redis has of it, and why it failed, or "".
    case feedback(app: String, reading: String, tuples: UInt64, error: String)

    /// What an answer puts in doubt.
    package enum Doubt: UInt8, CaseIterable, Sendable {
        /// The provider token is too old, or the connection belongs to another key.
        case credentialsStale
        case credentialsWrong
        /// The app's topic or environment, after some such answers in a row.
        case configurationWrong
    }

    /// A worker's numbers; counts are since its start.
    package struct Heartbeat: Equatable, Sendable {
        package var connections: UInt32 = 0
        package var openStreams: UInt32 = 0
        package var batches: UInt32 = 0
        package var sent: UInt64 = 0
        package var delivered: UInt64 = 0
        package var failed: UInt64 = 0
        package var retried: UInt64 = 0
        package var dials: UInt64 = 0
        package var residentBytes: UInt64 = 0
        /// Microseconds of a processor that the worker has had, and those in which it stood in line for one.
        package var processorTaken: UInt64 = 0
        package var processorQueued: UInt64 = 0
        /// Pushes a second of the apps that go slower because their gateway is in trouble; 0: none does.
        package var slowedTo: UInt64 = 0
        /// A signal has made it quiet: it checks nothing more out.
        package var isQuiet = false
        /// Apps with connections, or with activity since the last heartbeat.
        package var apps: [App] = []

        package init() {}
    }
}
