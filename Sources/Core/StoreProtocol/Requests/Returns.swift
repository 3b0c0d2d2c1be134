package import RedisProtocol

/// How a worker exited, as far as it matters to the pushes that it had in flight.
package enum WorkerLoss: Equatable, Sendable {
    /// It ended in order, or its host or its lease did: no job counts as suspect.
    case unrelated
    /// By its own doing. `hadSent`: it had pushes in flight, of any app.
    case crash(hadSent: Bool)
    /// By SIGKILL from outside. `recent`: kills on the host in the last minute, with this one.
    case kill(hadSent: Bool, recent: Int)
}

extension WorkerLoss: CommandWord {
    /// The kind, whether it had sent, and recent kills.
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        let (kind, hadSent, recent) =
            switch self {
            case .unrelated: ("0", true, 0)
            case .crash(let hadSent): ("crash", hadSent, 0)
            case .kill(let hadSent, let recent): ("kill", hadSent, recent)
            }
        WordList([kind, hadSent, recent]).write(to: &command, keys)
    }
}

/// How many exits of workers make a push, a batch or a job poison. Kills have many causes, so they count for less.
private let poisonLimits = [
    3,  // crashes with a push among the suspects, at last alone, until it is failed
    2,  // kills in a row until one counts against the batch
    2,  // kills with the same single suspect until it is failed
    10,  // the same two when workers are also killed that have nothing to do with the batch
    6,
    5,  // crashes before any send until the batch is quarantined
    5,  // crashes that accuse a job until it is quarantined
]

/// Finds the shards of which an exited worker had pushes in flight. To be made before its batches are reclaimed.
package struct ReadSuspects: Request {
    package struct Reply: Equatable, Sendable {
        package let suspects: Int
        package let shards: [Int]
    }

    package static var script: Script? { .suspects }

    package let words: [any CommandWord]

    package init(worker: String, shards: [Int]) {
        words = [ScriptKeys.prefix, worker, WordList(shards.map { LeaseField.shard($0) })]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        return Reply(suspects: try reader.integer(), shards: try reader.remainingShards())
    }
}

/// Reclaims batches of exited workers. At most 16 shards a call hold Redis up for less than 5 ms.
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
        package let quarantinedBatches: Int
        package let fenced: [Int]
        /// Shards with batches put back.
        package let woken: [Int]
        /// Jobs whose pushes end workers, now quarantined.
        package let quarantined: [String]
    }

    package static var script: Script? { .reclaim }

    package var workers: Workers
    package var loss: WorkerLoss
    package var shards: [(number: Int, token: FenceToken)]

    package init(
        _ workers: Workers, loss: WorkerLoss = .unrelated, shards: [(number: Int, token: FenceToken)]
    ) {
        (self.workers, self.loss, self.shards) = (workers, loss, shards)
    }

    package var words: [any CommandWord] {
        let (kind, names) =
            switch workers {
            case .gone(let names): ("gone", names)
            case .allBut(let names): ("all-but", names)
            }
        return [
            ScriptKeys.prefix, kind, loss, WordList(poisonLimits), WordList(names, isCounted: true),
            WordList(shards.map { WordList([LeaseField.shard($0.number), $0.token]) }),
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        return Reply(
            putBack: try reader.integer(), suspects: try reader.integer(), unknown: try reader.integer(),
            poisoned: try reader.integer(), quarantinedBatches: try reader.integer(),
            fenced: try reader.shards(),
            woken: try reader.shards(), quarantined: try reader.texts())
    }
}
