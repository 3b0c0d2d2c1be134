package import RedisProtocol

/// Gives unfinished batches of one shard back: the worker swears that nothing of them is in the air.
package struct PutBack: Request {
    package static var script: Script? { .putback }

    package var token: FenceToken
    package var worker: String
    /// At least one; all of the token's shard.
    package var batches: [(id: BatchID, delivery: Int)]

    package init(token: FenceToken, worker: String, batches: [(id: BatchID, delivery: Int)]) {
        (self.token, self.worker, self.batches) = (token, worker, batches)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        precondition(!batches.isEmpty, "nothing to put back")
        command.append(keys)
        command.append(token.bytes)
        command.append(worker)
        for batch in batches {
            command.append(batch.id.bytes)
            command.append(batch.delivery)
        }
    }

    /// How many were in the worker's hands.
    package static func read(_ value: RESPValue) throws(StoreError) -> Int {
        guard let moved = value.integer else { throw .unexpectedReply("putback") }
        return Int(moved)
    }
}

/// Which shards a worker that is gone had pushes of in the air. To be asked before its batches are taken back.
package struct ReadAccused: Request {
    package struct Reply: Equatable, Sendable {
        package let suspects: Int
        package let shards: [Int]
    }

    package static var script: Script? { .accused }

    package var worker: String
    package var shards: [Int]

    package init(worker: String, shards: [Int]) { (self.worker, self.shards) = (worker, shards) }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(worker)
        for shard in shards { command.append(LeaseField.name(ofShard: shard)) }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "accused")
        return Reply(suspects: try reader.integer(), shards: try reader.remainingShards())
    }
}

/// Takes batches back from workers that are gone. At most 16 shards a call hold Redis up for less than 5 ms.
package struct Reclaim: Request {
    package enum Workers: Sendable {
        case gone([String])
        /// Every worker but these, which are alive: repairs what no worker knows any more.
        case allBut([String])
    }

    package struct Reply: Equatable, Sendable {
        /// Batches put back to the head of their lists.
        package let putBack: Int
        /// Positions that may have been sent and will be sent again: counted in `maybeDuplicated`.
        package let suspects: Int
        /// Positions of at-most-once segments, closed as unknown.
        package let unknown: Int
        /// Positions closed as poison.
        package let poisoned: Int
        package let parked: Int
        package let fenced: [Int]
        /// Shards with batches put back.
        package let rung: [Int]
        /// Jobs whose pushes end workers, now quarantined.
        package let quarantined: [String]
    }

    package static var script: Script? { .reclaim }

    package var workers: Workers
    package var loss: WorkerLoss
    package var shards: [(number: Int, token: FenceToken)]
    package var limits = PoisonLimits()

    package init(
        _ workers: Workers, loss: WorkerLoss = .innocent, shards: [(number: Int, token: FenceToken)]
    ) {
        (self.workers, self.loss, self.shards) = (workers, loss, shards)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        let names: [String]
        switch workers {
        case .gone(let workers):
            command.append("gone")
            names = workers
        case .allBut(let workers):
            command.append("all-but")
            names = workers
        }
        command.append(loss)
        command.append(limits)
        command.append(names.count)
        for name in names { command.append(name) }
        for shard in shards {
            command.append(LeaseField.name(ofShard: shard.number))
            command.append(shard.token.bytes)
        }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "reclaim")
        return Reply(
            putBack: try reader.integer(), suspects: try reader.integer(), unknown: try reader.integer(),
            poisoned: try reader.integer(), parked: try reader.integer(), fenced: try reader.shards(),
            rung: try reader.shards(), quarantined: try reader.texts())
    }
}
