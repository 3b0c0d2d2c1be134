import PushModel
package import RedisProtocol

/// Gets batches of the worker's shards, each with a credit: the positions that may be sent.
package struct Checkout: Request {
    package struct Batch: Sendable {
        package let id: BatchID
        /// Which delivery of the batch this is; named in reports.
        package let delivery: Int
        /// Positions below it may be sent; Redis counts them as suspects if the worker is lost.
        package let granted: Int
        /// Nil when nothing is held against the batch.
        package let suspicion: Suspicion?
        /// One byte a position, "." if it is open.
        package let map: [UInt8]
        /// To be decoded by `PushModel.Batch`.
        package let body: [UInt8]
    }

    package struct Reply: Sendable {
        /// Why the app is paused, and so nothing new was given; nil if it is not.
        package let pauseReason: String?
        /// Shards that may have more: not looked at, or not to the end, because there were batches enough.
        package let left: [Int]
        /// Shards that are not ours, of those that were looked at.
        package let fenced: [Int]
        /// First those that the worker did not know to have, then new ones.
        package let batches: [Batch]
    }

    package static var script: Script? { .checkout }

    /// The worker's name, of this process only; without "|".
    package var worker: String
    /// Positions that may be granted in all batches together.
    package var credit: Int
    package var maxBatches: Int
    /// The batches of this app that the worker has in these shards: the others that are stamped with it are given
    /// first. Nil when every checkout before this one was answered: then there are no others.
    package var known: [BatchID]?
    package enum Lanes: String, Sendable {
        /// High, and then bulk with what is left of credit and batches.
        case highFirst = "h"
        /// High is not looked at, and ``Reply/left`` says nothing of it.
        case bulkOnly = "b"
        /// Bulk is not looked at, and ``Reply/left`` says nothing of it.
        case highOnly = "o"

        package var hasHigh: Bool { self != .bulkOnly }
        package var hasBulk: Bool { self != .highOnly }
    }

    package var lanes = Lanes.highFirst
    /// In the order in which they are served.
    package var shards: [(number: Int, token: FenceToken)]

    package init(
        worker: String, credit: Int, maxBatches: Int, known: [BatchID]? = nil,
        shards: [(number: Int, token: FenceToken)]
    ) {
        (self.worker, self.credit, self.maxBatches) = (worker, credit, maxBatches)
        (self.known, self.shards) = (known, shards)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        precondition(!worker.utf8.contains(UInt8(ascii: "|")), "a worker's name has no |")
        command.append(keys)
        command.append(worker)
        command.append(credit)
        command.append(maxBatches)
        command.append(known?.count ?? -1)
        for id in known ?? [] { command.append(id.bytes) }
        command.append(lanes.rawValue)
        for shard in shards {
            command.append(LeaseField.name(ofShard: shard.number))
            command.append(shard.token.bytes)
        }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "checkout")
        let reason = try reader.text()
        let left = try reader.shards()
        let fenced = try reader.shards()
        var batches: [Batch] = []
        while !reader.isAtEnd { batches.append(try batch(reader.next())) }
        return Reply(
            pauseReason: reason.isEmpty ? nil : reason, left: left, fenced: fenced, batches: batches)
    }

    private static func batch(_ value: RESPValue) throws(StoreError) -> Batch {
        var reader = try ReplyReader(value, "checkout, batch")
        return Batch(
            id: BatchID(try reader.bytes()), delivery: try reader.integer(), granted: try reader.integer(),
            suspicion: try Suspicion(reader.bytes()), map: try reader.bytes(), body: try reader.bytes())
    }
}
