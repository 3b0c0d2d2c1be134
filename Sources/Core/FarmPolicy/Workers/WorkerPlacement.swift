/// The workers of a host: the number of workers, which workers serve, and which shards each worker serves.
///
/// Workers have numbers from 0. A worker is excluded while its process does not run. Other workers serve the shards of an
/// excluded or quiet worker; a fixed rule selects these workers. The shards return to the worker when it serves again. Meanwhile,
/// the other workers keep their own shards.
package struct WorkerPlacement: Sendable {
    /// The number of workers that should run.
    package private(set) var size: Int
    /// The number of workers that have shards; fewer than ``size`` while new workers start.
    package private(set) var active: Int
    /// Whether the whole host is quiet, so that no worker serves. The workers keep their shards.
    package var isQuiet = false

    private var map: ShardMap
    private var excluded: Set<Int> = []
    private var quiet: Set<Int> = []

    package init(shards: Int, size: Int) {
        (self.size, active) = (size, size)
        map = ShardMap(shards: shards, workers: size)
    }

    /// Returns the worker that serves the shard. When no worker serves, returns the worker that served the shard before.
    package func worker(of shard: Int) -> Int {
        let owner = map.worker(of: shard)
        guard isUnavailable(owner) else { return owner }
        let others = (0..<active).filter { !isUnavailable($0) }
        guard !others.isEmpty, let rank = map.shards(of: owner).firstIndex(of: shard) else { return owner }
        return others[(rank + owner) % others.count]
    }

    /// Whether the worker may check out batches.
    package func serves(_ worker: Int) -> Bool {
        !isQuiet && worker < active && !isUnavailable(worker)
    }

    /// Whether all workers are quiet. An excluded worker counts as not quiet, because it is only restarting.
    package var isAllQuiet: Bool { (0..<active).allSatisfy { isQuiet($0) } }

    private func isUnavailable(_ worker: Int) -> Bool { excluded.contains(worker) || quiet.contains(worker) }

    /// Whether a worker does not serve its own shards. The load of the other workers then does not show how many workers are
    /// needed.
    package var isDisturbed: Bool { isQuiet || !excluded.isEmpty || !quiet.isEmpty }

    /// The workers that were made quiet one by one, not together with the whole host.
    package var quietWorkers: [Int] { quiet.sorted() }

    package func isExcluded(_ worker: Int) -> Bool { excluded.contains(worker) }
    package func isQuiet(_ worker: Int) -> Bool { isQuiet || quiet.contains(worker) }

    /// Excludes a worker while its process does not run; other workers serve its shards.
    package mutating func exclude(_ worker: Int) { excluded.insert(worker) }

    /// Makes a worker quiet: it takes no new work, and other workers serve its shards.
    package mutating func makeQuiet(_ worker: Int) { quiet.insert(worker) }

    /// Lets a worker serve its shards again.
    package mutating func resume(_ worker: Int) {
        excluded.remove(worker)
        quiet.remove(worker)
    }

    /// Changes the number of workers. Removed workers lose their shards at once. New workers get no shards before
    /// ``activateAll()``.
    package mutating func resize(to size: Int) {
        precondition(size > 0, "a host has at least one worker")
        self.size = size
        guard size < active else { return }
        activate(size)
    }

    /// Gives shards to the new workers. Call this function when their processes are ready.
    package mutating func activateAll() { activate(size) }

    private mutating func activate(_ workers: Int) {
        active = workers
        map = ShardMap(shards: map.shards, workers: workers)
        excluded = excluded.filter { $0 < workers }
        quiet = quiet.filter { $0 < workers }
    }
}

/// Divides the shards among the workers: the numbers of shards of two workers differ by one at most. The result depends
/// only on the number of shards and the number of workers.
///
/// If one worker is added or removed, as few shards as possible move to other workers.
package struct ShardMap: Hashable, Sendable {
    package let workers: Int
    private let owners: [Int]

    /// Gives all shards to the first worker. Then each further worker takes its shards, one at a time, from the worker
    /// that has the most shards.
    package init(shards: Int, workers: Int) {
        precondition(shards >= 0 && workers > 0, "\(shards) shards for \(workers) workers")
        var held = [Array(0..<shards)]
        for worker in 1..<max(workers, 1) {
            var taken: [Int] = []
            for _ in 0..<shards / (worker + 1) {
                var richest = 0
                for other in 1..<worker where held[other].count > held[richest].count { richest = other }
                taken.append(held[richest].removeLast())
            }
            held.append(taken)
        }
        var owners = Array(repeating: 0, count: shards)
        for (worker, shards) in held.enumerated() {
            for shard in shards { owners[shard] = worker }
        }
        self.owners = owners
        self.workers = workers
    }

    package var shards: Int { owners.count }

    /// Returns the index of the worker that serves `shard`, or 0 for an unknown shard.
    package func worker(of shard: Int) -> Int { owners[checked: shard] ?? 0 }

    /// Returns the shards that `worker` serves, in ascending order.
    package func shards(of worker: Int) -> [Int] { owners.indices.filter { owners[$0] == worker } }
}

/// Tracks which worker has each shard. A worker gets a shard only after the worker that had the shard has released it.
package struct ShardAssignments: Sendable {
    private struct Assignment {
        let worker: Int
        /// Whether the last order told the worker to serve the shard; false if the order told the worker to release the shard.
        var mayServe: Bool
    }

    private var assignments: [String: [Int: Assignment]] = [:]

    package init() {}

    /// Returns the worker that serves the shard or has not released it yet.
    package func worker(serving shard: Int, app: String) -> Int? { assignments[app]?[shard]?.worker }

    /// Whether the worker has no shard.
    package func isEmpty(_ worker: Int) -> Bool {
        assignments.values.allSatisfy { shards in shards.values.allSatisfy { $0.worker != worker } }
    }

    /// Gives shards of an app to the worker, and takes all its other shards of the app.
    /// - Returns: the shards that the worker must serve now: the wanted shards except shards that other workers still
    ///   have.
    package mutating func give(_ wanted: [Int], of app: String, to worker: Int) -> Set<Int> {
        var shards = assignments[app] ?? [:]
        for (shard, assignment) in shards where assignment.worker == worker {
            shards[shard]?.mayServe = false
        }
        var given: Set<Int> = []
        for shard in wanted where shards[shard].map({ $0.worker == worker }) ?? true {
            shards[shard] = Assignment(worker: worker, mayServe: true)
            given.insert(shard)
        }
        assignments[app] = shards
        return given
    }

    /// Notes that the worker has released shards.
    /// - Returns: the shards that no worker has now.
    package mutating func released(_ shards: some Sequence<Int>, of app: String, by worker: Int) -> [Int] {
        shards.filter { shard in
            guard let assignment = assignments[app]?[shard], assignment.worker == worker, !assignment.mayServe
            else {
                return false
            }
            assignments[app]?[shard] = nil
            return true
        }
    }

    /// Notes that the worker's process has exited and its batches were reclaimed.
    package mutating func ended(_ worker: Int) {
        for (app, shards) in assignments { assignments[app] = shards.filter { $0.value.worker != worker } }
    }

    /// Removes an app that is no longer served.
    package mutating func forget(_ app: String) { assignments[app] = nil }
}
