import StoreProtocol

/// The leases that a host has acquired, with their fencing tokens.
struct OwnedLeases {
    private(set) var fenceTokens: [Int: FenceToken] = [:]
    private(set) var intake: FenceToken?
    /// Acquired shards whose previous owner's batches are not reclaimed yet. No worker gets these shards.
    private(set) var unreclaimed: Set<Int> = []

    var isEmpty: Bool { intake == nil && fenceTokens.isEmpty }

    /// The owned leases: the intake, then the shards in order.
    var leases: [LeaseID] {
        (intake == nil ? [] : [.intake]) + fenceTokens.keys.sorted().map { .shard($0) }
    }

    /// The shards whose batches are to be reclaimed, in order.
    var toReclaim: [LeaseStateMachine.Shard] {
        unreclaimed.sorted().compactMap { shard in fenceTokens[shard].map { (shard, $0) } }
    }

    /// The leases that the host does not own: shards in order, then the intake.
    func missing(of shards: Int) -> [LeaseID] {
        let missing = (0..<shards).filter { fenceTokens[$0] == nil }.map { LeaseID.shard($0) }
        return intake == nil ? missing + [.intake] : missing
    }

    mutating func add(_ lease: LeaseID, _ token: FenceToken) {
        switch lease {
        case .intake: intake = token
        case .shard(let shard):
            fenceTokens[shard] = token
            unreclaimed.insert(shard)
        }
    }

    mutating func remove(_ lease: LeaseID) {
        switch lease {
        case .intake: intake = nil
        case .shard(let shard):
            fenceTokens[shard] = nil
            unreclaimed.remove(shard)
        }
    }

    /// Notes that the batches of these shards are reclaimed. If a shard has another fencing token now, the host acquired the
    /// shard again during the call, so the shard stays unreclaimed.
    mutating func reclaimed(_ shards: [LeaseStateMachine.Shard]) {
        for (shard, token) in shards where fenceTokens[shard] == token { unreclaimed.remove(shard) }
    }
}
