import RedisProtocol

/// How a worker was lost, as far as that tells about the pushes that it had in the air.
package enum WorkerLoss: Equatable, Sendable {
    /// It ended in order, or its host or its lease did: no job is blamed.
    case innocent
    /// By its own doing. `hadSent`: it had something in the air, of whatever app.
    case crash(hadSent: Bool)
    /// By SIGKILL from outside. `recent`: kills on the host in the last minute, with this one.
    case kill(hadSent: Bool, recent: Int)
}

/// How often a worker must be lost until the blame is clear. Kills come from anywhere, so they count for less.
package struct PoisonLimits: Equatable, Sendable {
    /// Crashes with a push among the suspects, at last alone, until it is failed.
    package var crashes = 3
    /// Kills in a row until one is held against the batch.
    package var kills = 2
    /// Kills with the same single suspect until it is failed.
    package var sameKills = 2
    /// The same two when workers are also killed that have nothing to do with the batch.
    package var killsAmidOthers = 10
    package var sameKillsAmidOthers = 6
    /// Crashes before any send until the batch is parked.
    package var crashesUnsent = 5
    /// Crashes that accuse a job until it is quarantined.
    package var jobCrashes = 5

    package init() {}
}

extension RESPCommand {
    mutating func append(_ loss: WorkerLoss) {
        switch loss {
        case .innocent:
            append("0")
            append(true)
            append(0)
        case .crash(let hadSent):
            append("crash")
            append(hadSent)
            append(0)
        case .kill(let hadSent, let recent):
            append("kill")
            append(hadSent)
            append(recent)
        }
    }

    mutating func append(_ limits: PoisonLimits) {
        append(limits.crashes)
        append(limits.kills)
        append(limits.sameKills)
        append(limits.killsAmidOthers)
        append(limits.sameKillsAmidOthers)
        append(limits.crashesUnsent)
        append(limits.jobCrashes)
    }
}
