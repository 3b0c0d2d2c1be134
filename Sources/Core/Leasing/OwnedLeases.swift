import StoreProtocol

/// The leases that a host has acquired, with their fencing tokens.
struct OwnedLeases {
    private(set) var tokens: [Int: FenceToken] = [:]
    private(set) var intake: FenceToken?
    /// Acquired shards whose previous owner's batches are not reclaimed yet. No worker gets these shards.
    private(set) var unreclaimed: Set<Int> = []

    var isEmpty: Bool { intake == nil && tokens.isEmpty }

    /// The owned fields: the intake, then the shards in order.
    var fields: [LeaseField] {
        (intake == nil ? [] : [.intake]) + tokens.keys.sorted().map { .shard($0) }
    }

    /// The shards whose batches are to be reclaimed, in order.
    var toReclaim: [HeldLeases.Shard] {
        unreclaimed.sorted().compactMap { shard in tokens[shard].map { (shard, $0) } }
    }

    /// The fields that the host does not own: shards in order, then the intake.
    func missing(of shards: Int) -> [LeaseField] {
        let missing = (0..<shards).filter { tokens[$0] == nil }.map { LeaseField.shard($0) }
        return intake == nil ? missing + [.intake] : missing
    }

    mutating func add(_ field: LeaseField, _ token: FenceToken) {
        switch field {
        case .intake: intake = token
        case .shard(let shard):
            tokens[shard] = token
            unreclaimed.insert(shard)
        }
    }

    mutating func remove(_ field: LeaseField) {
        switch field {
        case .intake: intake = nil
        case .shard(let shard):
            tokens[shard] = nil
            unreclaimed.remove(shard)
        }
    }

    /// Notes that the batches of these shards are reclaimed. A shard with another fencing token was acquired again during the
    /// call, so it stays unreclaimed.
    mutating func reclaimed(_ shards: [HeldLeases.Shard]) {
        for (shard, token) in shards where tokens[shard] == token { unreclaimed.remove(shard) }
    }
}
