import PushModel
package import RedisProtocol

/// Checks out batches of the worker's shards. Each batch comes with a send credit: how many of its positions the worker may send.
package struct Checkout: Request {
    package struct Batch: Sendable {
        package let id: BatchID
        /// The number of this delivery of the batch. Reports contain this number.
        package let delivery: Int
        /// The worker may send the positions below this number. If the worker exits unexpectedly, Redis treats the open positions
        /// below this number as suspects.
        package let granted: Int
        /// The batch's suspicion; nil if the batch is not suspect.
        package let suspicion: Suspicion?
        /// One byte per position; "." means open.
        package let map: [UInt8]
        /// The encoded batch, to be decoded by `PushModel.Batch`.
        package let body: [UInt8]
    }

    package struct Reply: Sendable {
        /// The reason of the app's pause; nil if the app is not paused. While the app is paused, no new batch is returned.
        package let pauseReason: String?
        /// Shards that may have more ready batches, because the call reached one of its limits before the end of their lists.
        package let nonEmptyShards: [Int]
        /// Requested shards whose fencing token is not the current one, because the shard has another owner.
        package let fenced: [Int]
        /// First the batches that an earlier call assigned to the worker in a reply that was lost, then newly checked out
        /// batches.
        package let batches: [Batch]
    }

    package static var script: Script? { .checkout }

    /// The worker's unique name, without "|". A new process has a new name.
    package var worker: String
    /// The number of positions that may be granted in all batches together.
    package var credit: Int
    package var maxBatches: Int
    /// The batches of these shards that the worker knows. The reply begins with the worker's other batches in Redis: the replies
    /// that contained them were lost. Nil if the replies to all earlier checkouts arrived, because then the worker knows all its
    /// batches.
    package var known: [BatchID]?
    package enum Lanes: String, Sendable {
        /// Lane high is read first. Lane bulk gets the remaining credit and the remaining number of batches.
        case highFirst = "h"
        /// Lane high is not read, and ``Reply/nonEmptyShards`` does not consider it.
        case bulkOnly = "b"
        /// Lane bulk is not read, and ``Reply/nonEmptyShards`` does not consider it.
        case highOnly = "o"

        package var hasHigh: Bool { self != .bulkOnly }
        package var hasBulk: Bool { self != .highOnly }
    }

    package var lanes = Lanes.highFirst
    /// The shards in the order in which they are read.
    package var shards: [(number: Int, token: FenceToken)]

    package init(
        worker: String, credit: Int, maxBatches: Int, known: [BatchID]? = nil,
        shards: [(number: Int, token: FenceToken)]
    ) {
        (self.worker, self.credit, self.maxBatches) = (worker, credit, maxBatches)
        (self.known, self.shards) = (known, shards)
    }

    package var words: [any CommandArgument] {
        precondition(!worker.utf8.contains(UInt8(ascii: "|")), "a worker's name has no |")
        return [
            ScriptKeys.prefix, worker, credit, maxBatches, known?.count ?? -1, ArgumentList(known ?? []),
            lanes.rawValue,
            ArgumentList(shards.map { ArgumentList([LeaseID.shard($0.number), $0.token]) }),
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let reason = try reader.text()
        let nonEmptyShards = try reader.shards()
        let fenced = try reader.shards()
        var batches: [Batch] = []
        while !reader.isAtEnd { batches.append(try batch(reader.part())) }
        return Reply(
            pauseReason: reason.isEmpty ? nil : reason, nonEmptyShards: nonEmptyShards, fenced: fenced,
            batches: batches)
    }

    private static func batch(_ part: consuming ReplyReader) throws(StoreError) -> Batch {
        Batch(
            id: BatchID(try part.bytes()), delivery: try part.integer(), granted: try part.integer(),
            suspicion: try Suspicion(part.bytes()), map: try part.bytes(), body: try part.bytes())
    }
}

/// How a worker must send a suspect batch: a batch that may have crashed earlier workers.
package struct Suspicion: Equatable, Sendable {
    /// Open positions below this number are suspects: they may have been in flight when a worker exited. They are sent in groups.
    package let suspect: Int
    /// Maximum number of suspects in one group.
    package let group: Int
    /// Whether the worker must have no other pushes in flight while it sends suspects of this batch.
    package let sendsAlone: Bool
}

extension Suspicion {
    /// Reads a suspicion from the text that scripts write. The text has more fields than a worker needs. Nil if the text is
    /// empty, because then the batch is not suspect.
    init?(_ text: [UInt8]) throws(StoreError) {
        guard !text.isEmpty else { return nil }
        let numbers = text.split(separator: UInt8(ascii: ",")).compactMap {
            Int(foreign: String(decoding: $0, as: UTF8.self))
        }
        guard numbers.count == 8 else { throw .unexpectedReply("suspicion") }
        self.init(suspect: numbers[0], group: numbers[1], sendsAlone: numbers[2] == 1)
    }
}

/// Quarantines a batch that the worker cannot read, and stores the reason for operators.
package struct QuarantineBatch: Request {
    package static var script: Script? { .quarantine }
    /// Whether the worker had the batch according to Redis.
    package typealias Reply = Bool

    /// The fencing token of the batch's shard.
    package var token: FenceToken
    package var worker: String
    package var batch: BatchID
    package var delivery: Int
    package var reason: String

    package init(token: FenceToken, worker: String, batch: BatchID, delivery: Int, reason: String) {
        (self.token, self.worker, self.batch) = (token, worker, batch)
        (self.delivery, self.reason) = (delivery, reason)
    }

    package var words: [any CommandArgument] { [ScriptKeys.prefix, token, worker, batch, delivery, reason] }
}

/// Returns unfinished batches of one shard. The worker guarantees that none of their pushes is in flight.
package struct PutBack: Request {
    package static var script: Script? { .putback }
    /// How many of the returned batches the worker had according to Redis.
    package typealias Reply = Int

    package var token: FenceToken
    package var worker: String
    /// One or more batches, all of the token's shard.
    package var batches: [(id: BatchID, delivery: Int)]

    package init(token: FenceToken, worker: String, batches: [(id: BatchID, delivery: Int)]) {
        (self.token, self.worker, self.batches) = (token, worker, batches)
    }

    package var words: [any CommandArgument] {
        precondition(!batches.isEmpty, "nothing to put back")
        return [
            ScriptKeys.prefix, token, worker,
            ArgumentList(batches.map { ArgumentList([$0.id, $0.delivery]) }),
        ]
    }
}
