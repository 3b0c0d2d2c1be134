/// Over which connection the pushes of one shard and lane go, so that two to a device never overtake each other.
///
/// As long as some are in the air, the others follow them over the same connection; if that is full and others are not, they wait
/// until those have landed. A batch that is the only one in hand may use several, for it has no device twice; until all of it has
/// landed nothing follows. Knows no connection but by its identity.
final class ShardRoute {
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

    /// How a batch that comes next in its lane may be sent.
    func way(of batch: UInt32) -> Way {
        if !doubted.isEmpty, doubted.contains(where: { $0 < batch }) { return .none }
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
}
