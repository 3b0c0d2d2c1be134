import FarmPolicy
import StoreProtocol

/// The leases of an app that placement assigns to a host.
struct AssignedLeases {
    /// How placement distributes the leases over the hosts, as far as this host knows.
    var shares: HostShares {
        didSet { if shares != oldValue { leases = Self.leases(shares, host, shards) } }
    }
    private let host: String
    private let shards: Int
    private var leases: Set<LeaseID>

    init(_ shares: HostShares, host: String, shards: Int) {
        (self.shares, self.host, self.shards) = (shares, host, shards)
        leases = Self.leases(shares, host, shards)
    }

    func contains(_ lease: LeaseID) -> Bool { leases.contains(lease) }

    private static func leases(_ shares: HostShares, _ host: String, _ shards: Int) -> Set<LeaseID> {
        let ownShards = (0..<shards).filter { shares.owner(ofShard: $0) == host }
        return Set(ownShards.map { .shard($0) } + (shares.intakeOwner == host ? [.intake] : []))
    }
}

/// The nonce under which a coordinator holds an app's leases.
struct LeaseNonce {
    private let instance: String
    private var renewals = 0
    private(set) var current: String
    /// The nonce of a coordinator that has exited; its leases may be acquired immediately. "" if there is no such coordinator.
    private(set) var predecessor: String

    /// - Parameter instance: a nonce with which no lease was ever acquired.
    init(_ instance: String, predecessor: String) {
        (self.instance, current, self.predecessor) = (instance, instance, predecessor)
    }

    /// Changes to a new nonce, so that the next fencing tokens differ from all earlier tokens. The old nonce becomes a
    /// predecessor, so the new nonce can acquire its leases immediately.
    mutating func replace() {
        renewals += 1
        predecessor = instance
        current = "\(instance).\(renewals)"
    }
}
