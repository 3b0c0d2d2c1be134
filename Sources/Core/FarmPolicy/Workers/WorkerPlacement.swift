/// A host's workers by place: how many there are to be, which of them serve, and whose each shard is.
///
/// Places are filled from 0 on. A place that rests or is quiet lends its shards to the others, each to the same one every
/// time, and has them back when it serves again: nothing else moves.
package struct WorkerPlacement: Sendable {
    /// Places that are to be filled.
    package private(set) var size: Int
    /// Places that have shards; fewer than ``size`` while newcomers start.
    package private(set) var active: Int
    /// Nothing is served: what the places have stays theirs.
    package var isQuiet = false

    private var map: ShardMap
    private var setAside: Set<Int> = []
    private var quiet: Set<Int> = []

    package init(shards: Int, size: Int) {
        (self.size, active) = (size, size)
        map = ShardMap(shards: shards, workers: size)
    }

    /// The place that serves the shard. When no place serves, the one that served it before.
    package func place(of shard: Int) -> Int {
        let owner = map.worker(of: shard)
        guard isAway(owner) else { return owner }
        let others = (0..<active).filter { !isAway($0) }
        guard !others.isEmpty, let rank = map.shards(of: owner).firstIndex(of: shard) else { return owner }
        return others[(rank + owner) % others.count]
    }

    /// Whether the place is to check anything out.
    package func serves(_ place: Int) -> Bool {
        !isQuiet && place < active && !isAway(place)
    }

    /// No place takes batches until it is resumed. A place that is away is only restarting.
    package var isAllQuiet: Bool { (0..<active).allSatisfy { isQuiet($0) } }

    private func isAway(_ place: Int) -> Bool { setAside.contains(place) || quiet.contains(place) }

    /// Some place does not serve its shards: the load of the others says nothing.
    package var isDisturbed: Bool { isQuiet || !setAside.isEmpty || !quiet.isEmpty }

    /// Places that are quiet, though not all are.
    package var quietPlaces: [Int] { quiet.sorted() }

    package func isSetAway(_ place: Int) -> Bool { setAside.contains(place) }
    package func isQuiet(_ place: Int) -> Bool { isQuiet || quiet.contains(place) }

    /// The others serve its shards.
    package mutating func setAway(_ place: Int) { setAside.insert(place) }

    /// It takes nothing more: the others serve its shards, if there are any.
    package mutating func makeQuiet(_ place: Int) { quiet.insert(place) }

    /// It serves its shards again.
    package mutating func wake(_ place: Int) {
        setAside.remove(place)
        quiet.remove(place)
    }

    /// Places from 0 to `size` are to be filled. Those beyond have nothing from now on; new ones have nothing yet.
    package mutating func resize(to size: Int) {
        precondition(size > 0, "a host has at least one worker")
        self.size = size
        guard size < active else { return }
        activate(size)
    }

    /// The newcomers are ready.
    package mutating func activateAll() { activate(size) }

    private mutating func activate(_ places: Int) {
        active = places
        map = ShardMap(shards: map.shards, workers: places)
        setAside = setAside.filter { $0 < places }
        quiet = quiet.filter { $0 < places }
    }
}

/// Which worker serves which shard: even to within one shard, and the same for the same numbers on every
/// host.
///
/// One worker more or fewer moves as few shards as evenness allows.
package struct ShardMap: Hashable, Sendable {
    package let workers: Int
    private let owners: [Int]

    /// Starts with one worker that has all; each further one takes its share from those who have the most.
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

    /// The index of the worker that serves `shard`; the first one's when there is no such shard.
    package func worker(of shard: Int) -> Int { owners[checked: shard] ?? 0 }

    /// The shards that `worker` serves, ascending.
    package func shards(of worker: Int) -> [Int] { owners.indices.filter { owners[$0] == worker } }
}

/// Which worker serves each shard: a shard goes to another worker only when its last worker has released it.
package struct ShardAssignments: Sendable {
    private struct Hand {
        let worker: Int
        /// The worker was ordered to serve it; otherwise it was ordered to release it.
        var isGiven: Bool
    }

    private var assignments: [String: [Int: Hand]] = [:]

    package init() {}

    /// The worker that has the shard, or has not yet released it.
    package func holder(of shard: Int, app: String) -> Int? { assignments[app]?[shard]?.worker }

    /// The worker has no shard.
    package func isEmpty(_ worker: Int) -> Bool {
        assignments.values.allSatisfy { shards in shards.values.allSatisfy { $0.worker != worker } }
    }

    /// The worker is to have these shards of an app from now on, and no others.
    /// - Returns: those of them that no other worker has: the worker is to serve these.
    package mutating func give(_ wanted: [Int], of app: String, to worker: Int) -> Set<Int> {
        var shards = assignments[app] ?? [:]
        for (shard, hand) in shards where hand.worker == worker { shards[shard]?.isGiven = false }
        var given: Set<Int> = []
        for shard in wanted where shards[shard].map({ $0.worker == worker }) ?? true {
            shards[shard] = Hand(worker: worker, isGiven: true)
            given.insert(shard)
        }
        assignments[app] = shards
        return given
    }

    /// The worker has released shards as ordered.
    /// - Returns: the shards that no worker has now.
    package mutating func released(_ shards: some Sequence<Int>, of app: String, by worker: Int) -> [Int] {
        shards.filter { shard in
            guard let hand = assignments[app]?[shard], hand.worker == worker, !hand.isGiven else {
                return false
            }
            assignments[app]?[shard] = nil
            return true
        }
    }

    /// The worker's process has exited, and its batches were reclaimed.
    package mutating func ended(_ worker: Int) {
        for (app, shards) in assignments { assignments[app] = shards.filter { $0.value.worker != worker } }
    }

    /// The app is not served any more.
    package mutating func forget(_ app: String) { assignments[app] = nil }
}
