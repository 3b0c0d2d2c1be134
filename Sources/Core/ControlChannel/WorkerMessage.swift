/// A message from a coordinator to a worker.
package enum WorkerMessage: Equatable, Sendable {
    /// The first message. `redis` is the URL of the farm's Redis with its password. `redisTrustedCA` is the trusted CA in PEM;
    /// empty: the system's CAs. `worker` is the worker's unique name in Redis, and `index` is its index among the host's
    /// workers.
    case begin(redis: String, redisTrustedCA: [UInt8], worker: String, index: UInt16)
    /// An app is new or changed.
    case app(AppSetup)
    /// An app is no longer configured. Return its batches.
    case forget(app: String)
    /// A provider token for an app. With `reconnects`, the worker uses the token only on new connections, and these replace
    /// the current connections.
    case provider(app: String, generation: UInt32, token: [UInt8], reconnects: Bool)
    /// All shards of an app that the worker serves from now on, each with its fencing token.
    case shards(app: String, [Shard])
    /// Batches are ready on these shards.
    case batchesReady(app: String, shards: [UInt16])
    /// The suppression lists of these shards have grown.
    case suppressed(app: String, shards: [UInt16])
    /// The end of the coordinator's leases, in milliseconds of ``BootClock``. Start no work after this time.
    case lease(end: UInt64)
    /// Read the app's feedback service. The worker reports the result in a ``WorkerNotice``.
    case feedback(FeedbackRequest)
    /// Send nothing for the app, and return its batches.
    case pause(app: String)
    case resume(app: String)
    /// Log the worker's state.
    case dump
    /// Log messages of this level and above.
    case logLevel(String)
    /// Reopen the log file.
    case reopenLogs
    /// The app's rate limit for the whole farm, in pushes per second; 0: no limit. Connections stay open.
    case rate(app: String, rate: Double)
    /// Return all batches of `shards`, and of every shard in which this worker holds a batch of one of the `jobs`. First await
    /// the responses to the pushes in flight. After the return, serve the shards again.
    case returnBatches(app: String, jobs: [String], shards: [UInt16])
    /// Check out no more batches, await the gateway's responses, report the outcomes, return the remaining batches to Redis, and
    /// exit.
    case finish(withinMilliseconds: UInt32)

    /// One shard, and the token that proves the coordinator's lease on the shard.
    package struct Shard: Equatable, Sendable {
        package var number: UInt16
        package var fence: [UInt8]

        package init(number: UInt16, fence: [UInt8]) {
            (self.number, self.fence) = (number, fence)
        }
    }
}

extension WorkerMessage.Shard: ControlValue {
    package func write(to writer: inout ControlWriter) { writer.write(number, fence) }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (number, fence) = try reader.readAll()
    }
}

extension WorkerMessage: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .begin(let redis, let trustedCA, let worker, let index):
            writer.message(1, redis, trustedCA, worker, index)
        case .app(let setup): writer.message(2, setup)
        case .forget(let app): writer.message(3, app)
        case .provider(let app, let generation, let token, let reconnects):
            writer.message(4, app, generation, token, reconnects)
        case .shards(let app, let shards): writer.message(5, app, shards)
        case .batchesReady(let app, let shards): writer.message(6, app, shards)
        case .pause(let app): writer.message(7, app)
        case .resume(let app): writer.message(8, app)
        case .finish(let milliseconds): writer.message(9, milliseconds)
        case .lease(let end): writer.message(10, end)
        case .suppressed(let app, let shards): writer.message(11, app, shards)
        case .feedback(let message): writer.message(12, message)
        case .dump: writer.message(13)
        case .logLevel(let level): writer.message(14, level)
        case .reopenLogs: writer.message(15)
        case .rate(let app, let rate): writer.message(20, app, rate)
        case .returnBatches(let app, let jobs, let shards): writer.message(21, app, jobs, shards)
        }
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        switch kind {
        case 1: self = try reader.read(Self.begin)
        case 2: self = try reader.read(Self.app)
        case 3: self = try reader.read(Self.forget)
        case 4: self = try reader.read(Self.provider)
        case 5: self = try reader.read(Self.shards)
        case 6: self = try reader.read(Self.batchesReady)
        case 7: self = try reader.read(Self.pause)
        case 8: self = try reader.read(Self.resume)
        case 9: self = try reader.read(Self.finish)
        case 10: self = try reader.read(Self.lease)
        case 11: self = try reader.read(Self.suppressed)
        case 12: self = try reader.read(Self.feedback)
        case 13: self = .dump
        case 14: self = try reader.read(Self.logLevel)
        case 15: self = .reopenLogs
        case 20: self = try reader.read(Self.rate)
        case 21: self = try reader.read(Self.returnBatches)
        default: throw .unknownKind(kind)
        }
    }
}

/// The settings that a worker needs to read an app's feedback service once.
package struct FeedbackRequest: Equatable, Sendable {
    package var app: String
    package var host: String
    package var port: UInt16
    /// The unique name of this reading.
    package var reading: String
    /// The number of shards of the farm.
    package var shards: Int
    /// The maximum number of records in the suppression list of a shard.
    package var limit: Int

    package init(app: String, host: String, port: UInt16, reading: String, shards: Int, limit: Int) {
        (self.app, self.host, self.port) = (app, host, port)
        (self.reading, self.shards, self.limit) = (reading, shards, limit)
    }
}

extension FeedbackRequest: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(app, host, port, reading, UInt32(shards), UInt32(clamping: limit))
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (app, host, port, reading) = try reader.readAll()
        (shards, limit) = (Int(try reader.read(UInt32.self)), Int(try reader.read(UInt32.self)))
    }
}
