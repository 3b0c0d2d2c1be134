package import RedisProtocol

/// How a worker exited. The kind of exit decides whether the exit counts against the pushes that the worker had in flight.
package enum WorkerExit: Equatable, Sendable {
    /// The worker exited normally, the host stopped, or a lease of the host expired. The exit counts against no job.
    case regular
    /// The worker crashed. `hadSent` is true if pushes of any app were in flight.
    case crash(hadSent: Bool)
    /// SIGKILL from outside ended the worker. `recent` is the number of kills on the host in the last minute, including this
    /// kill.
    case kill(hadSent: Bool, recent: Int)
}

extension WorkerExit: CommandArgument {
    /// Writes the kind, `hadSent`, and the number of recent kills.
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        let (kind, hadSent, recent) =
            switch self {
            case .regular: ("0", true, 0)
            case .crash(let hadSent): ("crash", hadSent, 0)
            case .kill(let hadSent, let recent): ("kill", hadSent, recent)
            }
        ArgumentList([kind, hadSent, recent]).write(to: &command, keys)
    }
}

/// How many worker exits make a push, a batch or a job poison. Kills have many causes other than poison, so kills have separate
/// limits.
private let poisonLimits = [
    3,  // crashes with a push among the suspects, the last with this push alone, until the push fails
    2,  // kills in a row until a kill counts against the batch
    2,  // kills with the same single suspect until the suspect fails
    10,  // the same two limits if workers without this batch are killed too
    6,
    5,  // crashes before any send until the batch is quarantined
    5,  // crashes that count against a job until the job is quarantined
]

/// Finds the shards in which an exited worker had pushes in flight. The caller sends this request before ``Reclaim``: after
/// ``Reclaim``, Redis no longer knows which batches the worker had.
package struct ReadInFlightShards: Request {
    package struct Reply: Equatable, Sendable {
        package let suspects: Int
        package let shards: [Int]
    }

    package static var script: Script? { .inFlightShards }

    package let words: [any CommandArgument]

    package init(worker: String, shards: [Int]) {
        words = [ScriptKeys.prefix, worker, ArgumentList(shards.map { LeaseID.shard($0) })]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        return Reply(suspects: try reader.integer(), shards: try reader.remainingShards())
    }
}

/// Reclaims batches of exited workers. A call for at most 16 shards blocks Redis for less than 5 ms.
package struct Reclaim: Request {
    package enum Workers: Sendable {
        case gone([String])
        /// All workers except these live workers. The call then also reclaims the batches of exited workers that no host
        /// remembers.
        case allBut([String])
    }

    package struct Reply: Equatable, Sendable {
        /// The number of batches that were put back at the head of their ready lists.
        package let putBack: Int
        /// The number of positions that may have been sent and will be sent again. `maybeDuplicated` counts them.
        package let suspects: Int
        /// The number of positions of at-most-once job parts that failed because their outcome is unknown.
        package let unknown: Int
        /// The number of positions that failed as poison.
        package let poisoned: Int
        package let quarantinedBatches: Int
        package let fenced: [Int]
        /// Shards with batches that were put back.
        package let woken: [Int]
        /// Jobs that are quarantined because their pushes crash workers.
        package let quarantined: [String]
    }

    package static var script: Script? { .reclaim }

    package var workers: Workers
    package var exit: WorkerExit
    package var shards: [(number: Int, token: FenceToken)]

    package init(
        _ workers: Workers, exit: WorkerExit = .regular, shards: [(number: Int, token: FenceToken)]
    ) {
        (self.workers, self.exit, self.shards) = (workers, exit, shards)
    }

    package var words: [any CommandArgument] {
        let (kind, names) =
            switch workers {
            case .gone(let names): ("gone", names)
            case .allBut(let names): ("all-but", names)
            }
        return [
            ScriptKeys.prefix, kind, exit, ArgumentList(poisonLimits), ArgumentList(names, isCounted: true),
            ArgumentList(shards.map { ArgumentList([LeaseID.shard($0.number), $0.token]) }),
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
