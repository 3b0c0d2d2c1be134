import EventLoop
import FarmPolicy
import Logging
import PushModel
import RedisClient
import StoreProtocol

/// The suppression lists of the shards that this worker serves. Pushes to tokens in the lists are not sent.
///
/// The worker reads a shard's list before it sends pushes of the shard. A wake-up announces new entries; if the wake-up is lost,
/// ``readEnds()`` finds the new entries. Suppressions that this worker passes to ``note(_:of:at:)`` have an effect immediately.
@Loop final class SuppressionLists {
    /// The suppression list of one shard.
    final class List {
        fileprivate(set) var table: SuppressionTable
        /// The new table while the list is read again from its beginning. At the end of the list, the new table replaces the
        /// present table.
        private var next: SuppressionTable?
        /// The position up to which the list is read.
        fileprivate var lastRead = EntryID.first
        fileprivate var isLoaded = false
        fileprivate var isReading = false

        fileprivate init(life: Int64) { table = SuppressionTable(life: life) }

        fileprivate func setLife(_ life: Int64) {
            table.life = life
            next?.life = life
        }

        fileprivate func apply(_ record: SuppressionRecord, recorded: Int64) {
            if next == nil { table.apply(record, recorded: recorded) }
            next?.apply(record, recorded: recorded)
        }

        /// Adds a suppression that this worker has found, with immediate effect.
        fileprivate func note(_ record: SuppressionRecord, at seconds: Int64) {
            table.apply(record, recorded: seconds)
            next?.apply(record, recorded: seconds)
        }

        /// Reads the list again from its beginning. The present table stays valid until the list has been read to its
        /// end.
        fileprivate func startOver() {
            guard lastRead != .first || next != nil else { return }
            next = SuppressionTable(life: table.life)
            lastRead = .first
        }

        /// Notes that the list is read to its end.
        fileprivate func ended() {
            if let next { table = next }
            next = nil
            isLoaded = true
        }
    }

    /// Called when a list is read to its end.
    var onLoaded: @Loop () -> Void = {}
    /// How many seconds after its time a record suppresses a token.
    var life: Int64 {
        didSet { if life != oldValue { for list in lists.values { list.setLife(life) } } }
    }

    private let store: AppRedis
    private let log: Logger
    private var lists: [Int: List] = [:]
    /// Shards whose lists have entries that are not read yet.
    private var due: [Int] = []
    private var readings = 0
    /// How often suppressions had been revoked at the last check; nil before the first check.
    private var takenBack: Int?
    /// Whether Redis holds new suppressions until they are confirmed.
    private(set) var holdsUnconfirmed = false
    private var isReadingEnds = false
    private var mustReadEndsAgain = false
    private var isRefused = false
    private lazy var timer = Timer { [unowned self] in readEnds() }

    private static let readingsAtOnce = 4
    private static let linesAtOnce = 1000
    private static let retryInterval = Duration.milliseconds(200)
    /// After a reconnect to a restarted or another Redis, the entries of this many last milliseconds are read again. If this
    /// Redis has lost its last writes, it may give their entry ids to new entries, which the worker would otherwise not read.
    private static let overlap: Int64 = 10 * 60 * 1000

    init(_ store: AppRedis, life: Int64, log: Logger) {
        (self.store, self.life, self.log) = (store, life, log)
    }

    /// Sets the served shards.
    func serve(_ shards: some Sequence<Int>) {
        let old = lists
        lists = [:]
        for shard in shards { lists[shard] = old[shard] ?? List(life: life) }
        if !isWhole { readEnds() }
    }

    func isLoaded(_ shard: Int) -> Bool { lists[shard]?.isLoaded ?? false }

    /// Whether the lists of all served shards are read.
    var isWhole: Bool { lists.values.allSatisfy(\.isLoaded) }

    /// Returns the list of a shard; nil if the list is empty or the shard is not served.
    func list(of shard: Int) -> List? {
        guard let list = lists[shard], !list.table.isEmpty else { return nil }
        return list
    }

    /// Adds a suppression that this worker has found and that the next report sends to Redis.
    func note(_ record: SuppressionRecord, of shard: Int, at seconds: Int64) {
        lists[shard]?.note(record, at: seconds)
    }

    /// Whether the shard's list already contains the content of a record.
    func covers(_ record: SuppressionRecord, of shard: Int, at seconds: Int64) -> Bool {
        lists[shard]?.table.covers(record, at: seconds) ?? false
    }

    /// Clears and rereads all lists. Drops the suppressions that this worker has found and that Redis has not accepted.
    func reload() {
        for shard in lists.keys { lists[shard] = List(life: life) }
        readEnds()
    }

    /// Reads new entries after a reconnect. If Redis has restarted, or another Redis has taken over (`isOther`), the lists may
    /// have other entries than before, so this function also reads the entries of the last minutes (``overlap``) again.
    func reconnected(isOther: Bool) {
        if isOther {
            for list in lists.values { list.lastRead = list.lastRead.back(milliseconds: Self.overlap) }
        }
        readEnds()
    }

    /// Reads the lists of these shards, because they have new entries.
    func readNewEntries(of shards: some Sequence<Int>) {
        for shard in shards where lists[shard] != nil && !due.contains(shard) { due.append(shard) }
        readOn()
    }

    /// Requests the ends of the lists, and reads new entries.
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
            holdsUnconfirmed = reply.holdsUnconfirmed
            if reply.takenBack != takenBack {
                takenBack = reply.takenBack
                for list in lists.values { list.startOver() }
            }
            for ((shard, list), end) in zip(asked, reply.ends) where lists[shard] === list {
                if let end, end != list.lastRead {
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
        let request = ReadSuppressed(shard: shard, after: list.lastRead, count: Self.linesAtOnce)
        store.send(request) { [weak self] result in self?.didRead(shard, list, after: request.after, result)
        }
    }

    private func didRead(
        _ shard: Int, _ list: List, after lastRead: EntryID,
        _ result: Result<[ReadSuppressed.Line], StoreError>
    ) {
        readings -= 1
        list.isReading = false
        switch result {
        case .failure(let error): failed([list], error)
        case .success where list.lastRead != lastRead: due.append(shard)
        case .success(let lines):
            for line in lines {
                if let record = line.record {
                    list.apply(record, recorded: line.id.milliseconds / 1000)
                }
            }
            if let last = lines.last { list.lastRead = last.id }
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

    /// If Redis is unreachable, tries again soon. If Redis refuses to return a list, the worker sends without the list, because a
    /// push to an invalid token is better than an unsent push.
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
