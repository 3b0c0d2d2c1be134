import EventLoop

/// Tells workers which of their shards have ready batches, and for which of their shards the suppression list has
/// changed. Several wake-ups for a shard are sent to the worker as one.
@Loop final class ShardWakeUps {
    private unowned let context: HostContext
    private var pending: PendingShards
    private lazy var sendSoon = WakeUp { [unowned self] in send() }

    init(_ context: HostContext) {
        self.context = context
        pending = PendingShards(shards: context.shardCount)
    }

    /// Notes that shards have ready batches.
    func note(_ numbers: some Sequence<Int>, of app: String) {
        pending.note(numbers, .ready, app: app)
        sendSoon()
    }

    /// Notes the shards that a wake-up message names.
    /// - Returns: false if at least one of the named shards does not exist.
    func note(_ message: String, of app: String) -> Bool {
        defer { sendSoon() }
        return pending.note(message, app: app)
    }

    /// Sends each worker the wake-ups for its shards. If a worker is too slow to read its messages, the wake-ups for its
    /// shards are kept for the next call.
    func send() {
        for (topic, app, numbers) in pending.takeAll() {
            for slot in context.fleet.readySlots {
                let its = numbers.filter { context.shards.placement.worker(of: $0) == slot.index }
                guard !its.isEmpty else { continue }
                guard !slot.lags else {
                    pending.note(its, topic, app: app)
                    continue
                }
                let numbers = its.compactMap { UInt16(exactly: $0) }
                switch topic {
                case .ready: slot.child.send(.batchesReady(app: app, shards: numbers))
                case .suppressed: slot.child.send(.suppressed(app: app, shards: numbers))
                }
            }
        }
    }
}

/// The shards whose wake-ups were not sent to workers yet. Several wake-ups for a shard count as one.
struct PendingShards {
    /// The kind of change that a wake-up announces.
    enum Topic: Hashable, CaseIterable {
        /// The shards have ready batches.
        case ready
        /// Tokens of the shards were suppressed or are no longer suppressed.
        case suppressed
    }

    /// The farm's number of shards.
    private let count: Int
    private var shards: [Topic: [String: Set<Int>]] = [:]

    init(shards count: Int) { self.count = count }

    var isEmpty: Bool { shards.values.allSatisfy(\.isEmpty) }

    /// Notes the shards of a wake-up message: "NN NN …", "s NN NN …" or "*".
    /// - Returns: false if the message names a shard that the farm does not have. All other shards of the message are
    ///   noted.
    mutating func note(_ text: String, app: String) -> Bool {
        if text == "*" {
            note(0..<count, .ready, app: app)
            return true
        }
        let isOfSuppressed = text.hasPrefix("s ")
        let words = text.dropFirst(isOfSuppressed ? 2 : 0).split(separator: " ")
        let numbers = words.compactMap { Int(foreign: $0) }.filter { (0..<count).contains($0) }
        note(numbers, isOfSuppressed ? .suppressed : .ready, app: app)
        return numbers.count == words.count
    }

    /// Notes shards. Shards that the farm does not have are skipped.
    mutating func note(_ numbers: some Sequence<Int>, _ topic: Topic, app: String) {
        let known = numbers.filter { (0..<count).contains($0) }
        guard !known.isEmpty else { return }
        shards[topic, default: [:]][app, default: []].formUnion(known)
    }

    /// Removes all noted shards, and returns them sorted by topic, app and number. A caller that cannot notify a worker
    /// must note the shards of this worker again.
    mutating func takeAll() -> [(topic: Topic, app: String, shards: [Int])] {
        defer { shards = [:] }
        return Topic.allCases.flatMap { topic in
            (shards[topic] ?? [:]).sorted { $0.key < $1.key }.map { (topic, $0.key, $0.value.sorted()) }
        }
    }
}
