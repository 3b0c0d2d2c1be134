/// Over which connection the pushes of one shard and lane go, so that two to a device never overtake each other.
///
/// As long as some are in the air, the others follow them over the same connection; if that is full and others are not, they wait
/// until those have landed. A batch that is the only one in hand may use several, for it has no device twice; until all of it has
/// landed nothing follows. What has been in the air for long is set aside: only pushes to the same devices wait for it. Knows no
/// connection but by its identity.
final class ShardRoute {
    typealias Instant = ContinuousClock.Instant

    /// A way that is open to a batch.
    enum Way: Equatable {
        /// Nothing is in the air: any connection will do.
        case any
        /// This connection; another one as well if the batch is the only one in hand, and has no device twice.
        case following(ObjectIdentifier, isOnlyBatch: Bool)
        /// What is in the air has to land first.
        case none
    }

    private enum Use {
        case single(ObjectIdentifier)
        /// Nothing follows over it any more.
        case left
        /// Over several connections, by the batch of this number.
        case spread(UInt32)
    }

    /// Batches in hand.
    var batches = 0
    /// Those of which Redis is asked what it still knows: what is younger waits for them.
    var doubted: Set<UInt32> = []
    /// Their pushes in the air.
    var inAir = 0 {
        didSet { if inAir == 0 { use = nil } }
    }
    private var use: Use?
    /// Devices with pushes that were set aside, and how many; those are not in ``inAir``.
    private(set) var setAside: [ArraySlice<UInt8>: Int] = [:]
    /// Goes up with each change of ``setAside``.
    private(set) var changes = 0
    /// Batches with pushes to those devices: what is younger waits for them.
    private var waiting: Set<UInt32> = []
    /// What was in the air when a batch was held up, and since when nothing of it has landed.
    private var lastSeen: (inAir: Int, since: Instant)?

    /// So long nothing must have landed before what is in the air is set aside.
    static let patience = Duration.milliseconds(250)
    /// More is not set aside: then it is the gateway that does not respond, and not some tokens.
    private static let most = 256

    /// How a batch that comes next in its lane may be sent.
    func way(of batch: UInt32) -> Way {
        if !doubted.isEmpty, doubted.contains(where: { $0 < batch }) { return .none }
        if !waiting.isEmpty, waiting.contains(where: { $0 < batch }) { return .none }
        return switch use {
        case nil: .any
        case .single(let connection): .following(connection, isOnlyBatch: batches == 1)
        case .spread(batch): .any
        case .left, .spread: .none
        }
    }

    /// Its connection has no room and others have: whoever followed would only make it fuller.
    func leave() {
        if case .single = use { use = .left }
    }

    /// Pushes of the batch have left over the connection.
    func left(over connection: ObjectIdentifier, by batch: UInt32) {
        guard inAir > 0 else { return }
        switch use {
        case nil: use = .single(connection)
        case .single(connection), .left, .spread: return
        case .single: use = .spread(batch)
        }
    }

    // MARK: What is set aside

    /// A batch is held up by what is in the air, of which nothing has landed for a while.
    func isStuck(at now: Instant) -> Bool {
        guard inAir > 0, inAir + setAside.count <= Self.most else { return false }
        guard let lastSeen, lastSeen.inAir == inAir else {
            lastSeen = (inAir, now)
            return false
        }
        return lastSeen.since.duration(to: now) >= Self.patience
    }

    /// A push in the air is set aside.
    func setAside(_ device: ArraySlice<UInt8>) {
        setAside[device, default: 0] += 1
        changes += 1
        inAir -= 1
    }

    /// One that was set aside is about to land: it is in the air again until then.
    func takeBack(_ device: ArraySlice<UInt8>) {
        guard let count = setAside[device] else {
            preconditionFailure("a push is taken back that was not set aside")
        }
        setAside[device] = count > 1 ? count - 1 : nil
        changes += 1
        inAir += 1
    }

    /// A batch has pushes to devices of which some are set aside, or has none any more.
    func note(_ batch: UInt32, waits: Bool) {
        if waits { waiting.insert(batch) } else { waiting.remove(batch) }
    }
}
