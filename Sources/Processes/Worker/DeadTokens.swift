import EventLoop
import FarmPolicy
import FarmStore
import Logging
import PushModel

/// The tokens that an app's pushes are not sent to, of the shards that this worker serves.
///
/// Of each shard its suppression list is read before anything of the shard is sent; what is added later comes by a bell, at
/// the latest with the next ``look()``. What this worker finds out itself counts at once.
@Loop final class DeadTokens {
    /// What is known of one shard.
    final class Shelf {
        fileprivate(set) var table: SuppressionTable
        /// Takes the table's place when the list is read from its beginning again.
        private var next: SuppressionTable?
        /// Its list is read up to here.
        fileprivate var place = SuppressionPlace.start
        fileprivate var isLoaded = false
        fileprivate var isReading = false

        fileprivate init(life: Int64) { table = SuppressionTable(life: life) }

        fileprivate func live(_ life: Int64) {
            table.life = life
            next?.life = life
        }

        fileprivate func apply(_ record: SuppressionRecord, recorded: Int64) {
            if next == nil { table.apply(record, recorded: recorded) }
            next?.apply(record, recorded: recorded)
        }

        /// Found out here: it counts at once.
        fileprivate func note(_ record: SuppressionRecord, at seconds: Int64) {
            table.apply(record, recorded: seconds)
            next?.apply(record, recorded: seconds)
        }

        /// The list does not say any more what it said: the table counts until it is read again.
        fileprivate func beginAnew() {
            guard place != .start || next != nil else { return }
            next = SuppressionTable(life: table.life)
            place = .start
        }

        /// There is no more in the list.
        fileprivate func ended() {
            if let next { table = next }
            next = nil
            isLoaded = true
        }
    }

    /// Some of the shards are read to their end.
    var onLoaded: @Loop () -> Void = {}
    /// Seconds that a record counts.
    var life: Int64 {
        didSet { if life != oldValue { for shelf in shelves.values { shelf.live(life) } } }
    }

    private let store: AppStore
    private let log: Logger
    private var shelves: [Int: Shelf] = [:]
    /// Shards whose lists are longer than what was read of them.
    private var due: [Int] = []
    private var readings = 0
    /// How often the guard had taken back what lists say.
    private var takeBacks: Int?
    /// Bad tokens wait in Redis until they are confirmed.
    private(set) var isHolding = false
    private var isLooking = false
    private var mustLookAgain = false
    private var isRefused = false
    private lazy var timer = Timer { [unowned self] in look() }

    private static let readingsAtOnce = 4
    private static let linesAtOnce = 1000
    private static let retryInterval = Duration.milliseconds(200)
    /// A Redis that lost its last seconds may write places again that were read; so much of a list is read twice.
    private static let overlap: Int64 = 10 * 60 * 1000

    init(_ store: AppStore, life: Int64, log: Logger) {
        (self.store, self.life, self.log) = (store, life, log)
    }

    /// These shards are served from now on, and no others.
    func serve(_ shards: some Sequence<Int>) {
        let old = shelves
        shelves = [:]
        for shard in shards { shelves[shard] = old[shard] ?? Shelf(life: life) }
        if !isWhole { look() }
    }

    func isLoaded(_ shard: Int) -> Bool { shelves[shard]?.isLoaded ?? false }

    /// All that is served is read.
    var isWhole: Bool { shelves.values.allSatisfy(\.isLoaded) }

    /// What is known of a shard; nil if that is nothing.
    func shelf(of shard: Int) -> Shelf? {
        guard let shelf = shelves[shard], !shelf.table.isEmpty else { return nil }
        return shelf
    }

    /// This worker has found out something that Redis will hear with the report.
    func note(_ record: SuppressionRecord, of shard: Int, at seconds: Int64) {
        shelves[shard]?.note(record, at: seconds)
    }

    /// Its list says of a token what a record would.
    func covers(_ record: SuppressionRecord, of shard: Int, at seconds: Int64) -> Bool {
        shelves[shard]?.table.covers(record, at: seconds) ?? false
    }

    /// Forgets all, and reads what Redis has: own findings that were not let through are gone.
    func reload() {
        for shard in shelves.keys { shelves[shard] = Shelf(life: life) }
        look()
    }

    /// Redis may have lost what was read last.
    func reconnected(isOther: Bool) {
        if isOther {
            for shelf in shelves.values { shelf.place = shelf.place.back(milliseconds: Self.overlap) }
        }
        look()
    }

    /// The lists of these shards have grown.
    func heard(_ shards: some Sequence<Int>) {
        for shard in shards where shelves[shard] != nil && !due.contains(shard) { due.append(shard) }
        readOn()
    }

    /// Asks where the lists end, and reads what is new.
    func look() {
        guard !shelves.isEmpty else { return }
        guard !isLooking else {
            mustLookAgain = true
            return
        }
        (isLooking, mustLookAgain) = (true, false)
        let asked = shelves.sorted { $0.key < $1.key }
        store.send(ReadSuppressionEnds(shards: asked.map(\.key))) { [weak self] result in
            self?.looked(asked, result)
        }
    }

    private func looked(
        _ asked: [(key: Int, value: Shelf)], _ result: Result<ReadSuppressionEnds.Reply, StoreError>
    ) {
        isLooking = false
        switch result {
        case .failure(let error): failed(asked.map(\.value), error)
        case .success(let reply):
            isHolding = reply.isHolding
            if reply.takeBacks != takeBacks {
                takeBacks = reply.takeBacks
                for shelf in shelves.values { shelf.beginAnew() }
            }
            for ((shard, shelf), end) in zip(asked, reply.ends) where shelves[shard] === shelf {
                if let end, end != shelf.place {
                    if !due.contains(shard) { due.append(shard) }
                } else {
                    shelf.ended()
                }
            }
            if due.isEmpty { isRefused = false }
            readOn()
            onLoaded()
        }
        if mustLookAgain { look() }
    }

    private func readOn() {
        while readings < Self.readingsAtOnce, !due.isEmpty {
            let shard = due.removeFirst()
            if let shelf = shelves[shard], !shelf.isReading { read(shard, shelf) }
        }
    }

    private func read(_ shard: Int, _ shelf: Shelf) {
        readings += 1
        shelf.isReading = true
        let request = ReadSuppressed(shard: shard, after: shelf.place, count: Self.linesAtOnce)
        store.send(request) { [weak self] result in self?.didRead(shard, shelf, after: request.after, result)
        }
    }

    private func didRead(
        _ shard: Int, _ shelf: Shelf, after place: SuppressionPlace,
        _ result: Result<[ReadSuppressed.Line], StoreError>
    ) {
        readings -= 1
        shelf.isReading = false
        switch result {
        case .failure(let error): failed([shelf], error)
        case .success where shelf.place != place: due.append(shard)
        case .success(let lines):
            for line in lines {
                if let record = line.record {
                    shelf.apply(record, recorded: line.place.milliseconds / 1000)
                }
            }
            if let last = lines.last { shelf.place = last.place }
            if lines.count == Self.linesAtOnce {
                due.append(shard)
            } else {
                let wasLoaded = shelf.isLoaded
                shelf.ended()
                if !wasLoaded { onLoaded() }
            }
        }
        readOn()
    }

    /// Redis is away: soon again. Redis refuses: what is not suppressed is better than what is not sent.
    private func failed(_ shelves: [Shelf], _ error: StoreError) {
        if error.isTemporary || error == .redis(.closed) {
            if !isWhole { timer.start(after: Self.retryInterval) }
            return
        }
        if !isRefused {
            log.error(
                "cannot read which tokens are dead: sending to all",
                metadata: ["app": "\(store.keys.app)", "error": "\(error)"])
        }
        isRefused = true
        for shelf in shelves { shelf.isLoaded = true }
        onLoaded()
    }
}
