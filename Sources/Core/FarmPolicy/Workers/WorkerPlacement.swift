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
