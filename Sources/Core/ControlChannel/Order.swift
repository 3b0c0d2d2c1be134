/// An order of a coordinator to a worker.
package enum Order: Equatable, Sendable {
    /// The first order: the farm's Redis (a URL with its password, and the CA to trust there, in PEM, empty for the
    /// system's), the worker's name in Redis (unique for every start), and its index among the host's workers.
    case begin(redis: String, redisAuthority: [UInt8], worker: String, index: UInt16)
    /// An app that is new, or that changed.
    case app(AppSetup)
    /// An app that is no longer configured: give its batches back.
    case forget(app: String)
    /// A provider token for an app. `reconnects`: for new connections only, the present ones are to be replaced.
    case provider(app: String, generation: UInt32, token: [UInt8], reconnects: Bool)
    /// All the shards of an app that the worker serves from now on, each with its fence token.
    case shards(app: String, [Shard])
    /// Batches have become ready on these shards.
    case batchesReady(app: String, shards: [UInt16])
    /// The suppression lists of these shards have grown.
    case suppressed(app: String, shards: [UInt16])
    /// The coordinator's leases hold until then, on ``BootClock`` in milliseconds: start nothing later.
    case lease(end: UInt64)
    /// Read the app's feedback service; a notice says how that ended.
    case feedback(FeedbackOrder)
    /// Send nothing for the app, and give its batches back.
    case pause(app: String)
    case resume(app: String)
    /// Log the state.
    case dump
    /// Log from this level on.
    case logLevel(String)
    /// Open the file again that is logged to.
    case reopenLogs
    /// What the whole farm may send of the app, in pushes a second; 0: any number. Connections stay.
    case rate(app: String, rate: Double)
    /// Give back the batches of these jobs and of these shards that are not in flight; serve the shards again afterwards.
    case returnBatches(app: String, jobs: [String], shards: [UInt16])
    /// Check out nothing more, wait for the answers, report, give the rest back, and exit.
    case finish(withinMilliseconds: UInt32)

    /// One shard and the token that proves the coordinator's lease on it.
    package struct Shard: Equatable, Sendable {
        package var number: UInt16
        package var fence: [UInt8]

        package init(number: UInt16, fence: [UInt8]) {
            self.number = number
            self.fence = fence
        }
    }
}
