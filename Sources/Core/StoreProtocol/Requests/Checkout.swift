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
        /// Nil when the batch is no suspect.
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

    package var words: [any CommandWord] {
        precondition(!worker.utf8.contains(UInt8(ascii: "|")), "a worker's name has no |")
        return [
            ScriptKeys.prefix, worker, credit, maxBatches, known?.count ?? -1, WordList(known ?? []),
            lanes.rawValue, WordList(shards.map { WordList([LeaseField.shard($0.number), $0.token]) }),
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let reason = try reader.text()
        let left = try reader.shards()
        let fenced = try reader.shards()
        var batches: [Batch] = []
        while !reader.isAtEnd { batches.append(try batch(reader.part())) }
        return Reply(
            pauseReason: reason.isEmpty ? nil : reason, left: left, fenced: fenced, batches: batches)
    }

    private static func batch(_ part: consuming ReplyReader) throws(StoreError) -> Batch {
        Batch(
            id: BatchID(try part.bytes()), delivery: try part.integer(), granted: try part.integer(),
            suspicion: try Suspicion(part.bytes()), map: try part.bytes(), body: try part.bytes())
    }
}

/// How carefully a batch is to be sent that exited workers had.
package struct Suspicion: Equatable, Sendable {
    /// Positions before it were in flight then, and are sent in groups.
    package let suspect: Int
    /// Open positions that may be in flight at a time while the first one is a suspect.
    package let group: Int
    /// Nothing else of the worker may be in flight with them.
    package let isAlone: Bool
}

extension Suspicion {
    /// As the scripts write it, which keep more of it than a worker needs; nil for "": the batch is no suspect.
    init?(_ text: [UInt8]) throws(StoreError) {
        guard !text.isEmpty else { return nil }
        let numbers = text.split(separator: UInt8(ascii: ",")).compactMap {
            Int(foreign: String(decoding: $0, as: UTF8.self))
        }
        guard numbers.count == 8 else { throw .unexpectedReply("suspicion") }
        self.init(suspect: numbers[0], group: numbers[1], isAlone: numbers[2] == 1)
    }
}

/// Quarantines a batch that the worker cannot read, with the reason where an operator finds it.
package struct QuarantineBatch: Request {
    package static var script: Script? { .quarantine }
    /// Whether the worker had the batch.
    package typealias Reply = Bool

    /// Of the batch's shard.
    package var token: FenceToken
    package var worker: String
    package var batch: BatchID
    package var delivery: Int
    package var reason: String

    package init(token: FenceToken, worker: String, batch: BatchID, delivery: Int, reason: String) {
        (self.token, self.worker, self.batch) = (token, worker, batch)
        (self.delivery, self.reason) = (delivery, reason)
    }

    package var words: [any CommandWord] { [ScriptKeys.prefix, token, worker, batch, delivery, reason] }
}

/// Gives unfinished batches of one shard back: the worker guarantees that none of their pushes is in flight.
package struct PutBack: Request {
    package static var script: Script? { .putback }
    /// How many the worker had.
    package typealias Reply = Int

    package var token: FenceToken
    package var worker: String
    /// At least one; all of the token's shard.
    package var batches: [(id: BatchID, delivery: Int)]

    package init(token: FenceToken, worker: String, batches: [(id: BatchID, delivery: Int)]) {
        (self.token, self.worker, self.batches) = (token, worker, batches)
    }

    package var words: [any CommandWord] {
        precondition(!batches.isEmpty, "nothing to put back")
        return [
            ScriptKeys.prefix, token, worker, WordList(batches.map { WordList([$0.id, $0.delivery]) }),
        ]
    }
}
