import EventLoop
import FarmPolicy
import Logging
import PushModel
import RedisClient
import StoreProtocol

/// The suppression lists of the shards that this worker serves: no push is sent to their tokens.
///
/// A shard's list is read before anything of the shard is sent. A wake-up says that a list has grown; ``readEnds()`` finds out
/// without one. What this worker finds out itself counts at once.
@Loop final class SuppressionLists {
    /// The suppression list of one shard.
    final class List {
        fileprivate(set) var table: SuppressionTable
        /// Takes the table's place when the list is read from its beginning again.
        private var next: SuppressionTable?
        /// It is read up to here.
        fileprivate var place = EntryID.first
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

        /// This worker has found out something: it counts at once.
        fileprivate func note(_ record: SuppressionRecord, at seconds: Int64) {
            table.apply(record, recorded: seconds)
            next?.apply(record, recorded: seconds)
        }

        /// What was read is not valid any more: the table counts until the list is read again.
        fileprivate func beginAgain() {
            guard place != .first || next != nil else { return }
            next = SuppressionTable(life: table.life)
            place = .first
        }

        /// The list is read to its end.
        fileprivate func ended() {
            if let next { table = next }
            next = nil
            isLoaded = true
        }
    }

    /// Some of the lists are read to their end.
    var onLoaded: @Loop () -> Void = {}
    /// Seconds that a record counts.
    var life: Int64 {
        didSet { if life != oldValue { for list in lists.values { list.live(life) } } }
    }

    private let store: AppStore
    private let log: Logger
    private var lists: [Int: List] = [:]
    /// Shards whose lists have entries that are not read yet.
    private var due: [Int] = []
    private var readings = 0
    /// How often suppressions had been taken back.
    private var takeBacks: Int?
    /// New suppressions wait in Redis until they are confirmed.
    private(set) var isHolding = false
    private var isReadingEnds = false
    private var mustReadEndsAgain = false
    private var isRefused = false
    private lazy var timer = Timer { [unowned self] in readEnds() }

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
        let old = lists
        lists = [:]
        for shard in shards { lists[shard] = old[shard] ?? List(life: life) }
        if !isWhole { readEnds() }
    }

    func isLoaded(_ shard: Int) -> Bool { lists[shard]?.isLoaded ?? false }

    /// The lists of all served shards are read.
    var isWhole: Bool { lists.values.allSatisfy(\.isLoaded) }

    /// The list of a shard; nil if it is empty.
    func list(of shard: Int) -> List? {
        guard let list = lists[shard], !list.table.isEmpty else { return nil }
        return list
    }

    /// This worker has found out something that Redis will hear with the report.
    func note(_ record: SuppressionRecord, of shard: Int, at seconds: Int64) {
        lists[shard]?.note(record, at: seconds)
    }

    /// Its list says of a token what a record would.
    func covers(_ record: SuppressionRecord, of shard: Int, at seconds: Int64) -> Bool {
        lists[shard]?.table.covers(record, at: seconds) ?? false
    }

    /// Forgets all, and reads what Redis has: own findings that Redis has not accepted are dropped.
    func reload() {
        for shard in lists.keys { lists[shard] = List(life: life) }
        readEnds()
    }

    /// Redis may have lost the entries that were read last.
    func reconnected(isOther: Bool) {
        if isOther {
            for list in lists.values { list.place = list.place.back(milliseconds: Self.overlap) }
        }
        readEnds()
    }

    /// The lists of these shards have grown.
    func heard(_ shards: some Sequence<Int>) {
        for shard in shards where lists[shard] != nil && !due.contains(shard) { due.append(shard) }
        readOn()
    }

    /// Asks where the lists end, and reads new entries.
    func readEnds() {
        guard !lists.isEmpty else { return }
        guard !isReadingEnds else {
            mustReadEndsAgain = true
            return
        }
        (isReadingEnds, mustReadEndsAgain) = (true, false)
        let asked = lists.sorted { $0.key < $1.key }
        store.send(ReadSuppressionEnds(shards: asked.map(\.key))) { [weak self] result in
            self?.didReadEnds(asked, result)
        }
    }

    private func didReadEnds(
        _ asked: [(key: Int, value: List)], _ result: Result<ReadSuppressionEnds.Reply, StoreError>
    ) {
        isReadingEnds = false
        switch result {
        case .failure(let error): failed(asked.map(\.value), error)
        case .success(let reply):
            isHolding = reply.isHolding
            if reply.takeBacks != takeBacks {
                takeBacks = reply.takeBacks
                for list in lists.values { list.beginAgain() }
            }
            for ((shard, list), end) in zip(asked, reply.ends) where lists[shard] === list {
                if let end, end != list.place {
                    if !due.contains(shard) { due.append(shard) }
                } else {
                    list.ended()
                }
            }
            if due.isEmpty { isRefused = false }
            readOn()
            onLoaded()
        }
        if mustReadEndsAgain { readEnds() }
    }

    private func readOn() {
        while readings < Self.readingsAtOnce, !due.isEmpty {
            let shard = due.removeFirst()
            if let list = lists[shard], !list.isReading { read(shard, list) }
        }
    }

    private func read(_ shard: Int, _ list: List) {
        readings += 1
        list.isReading = true
        let request = ReadSuppressed(shard: shard, after: list.place, count: Self.linesAtOnce)
        store.send(request) { [weak self] result in self?.didRead(shard, list, after: request.after, result)
        }
    }

    private func didRead(
        _ shard: Int, _ list: List, after place: EntryID,
        _ result: Result<[ReadSuppressed.Line], StoreError>
    ) {
        readings -= 1
        list.isReading = false
        switch result {
        case .failure(let error): failed([list], error)
        case .success where list.place != place: due.append(shard)
        case .success(let lines):
            for line in lines {
                if let record = line.record {
                    list.apply(record, recorded: line.place.milliseconds / 1000)
                }
            }
            if let last = lines.last { list.place = last.place }
            if lines.count == Self.linesAtOnce {
                due.append(shard)
            } else {
                let wasLoaded = list.isLoaded
                list.ended()
                if !wasLoaded { onLoaded() }
            }
        }
        readOn()
    }

    /// Redis is away: reads again soon. Redis refuses: a push to an invalid token is better than a push that is not sent.
    private func failed(_ lists: [List], _ error: StoreError) {
        if error.isTemporary || error == .redis(.closed) {
            if !isWhole { timer.start(after: Self.retryInterval) }
            return
        }
        if !isRefused {
            log.error(
                "cannot read the suppression list: sending to all tokens",
                metadata: ["app": "\(store.keys.app)", "error": "\(error)"])
        }
        isRefused = true
        for list in lists { list.isLoaded = true }
        onLoaded()
    }
}
