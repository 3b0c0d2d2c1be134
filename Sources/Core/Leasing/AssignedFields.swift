import FarmPolicy
import StoreProtocol

/// The leases of an app that placement assigns to a host.
struct AssignedFields {
    /// How placement distributes the leases over the hosts, as far as this host knows.
    var shares: HostShares {
        didSet { if shares != oldValue { fields = Self.fields(shares, host, shards) } }
    }
    private let host: String
    private let shards: Int
    private var fields: Set<LeaseField>

    init(_ shares: HostShares, host: String, shards: Int) {
        (self.shares, self.host, self.shards) = (shares, host, shards)
        fields = Self.fields(shares, host, shards)
    }

    func contains(_ field: LeaseField) -> Bool { fields.contains(field) }

    private static func fields(_ shares: HostShares, _ host: String, _ shards: Int) -> Set<LeaseField> {
        let all = (0..<shards).map { LeaseField.shard($0) } + [.intake]
        return Set(all.filter { shares.owner(of: $0.shareField) == host })
    }
}

extension LeaseField {
    fileprivate var shareField: HostShares.Field {
        switch self {
        case .intake: .intake
        case .shard(let number): .shard(number)
        }
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

    /// Changes to a new nonce, so that scripts have never seen its fencing tokens. The previous leases may be acquired
    /// immediately, because this coordinator owned them.
    mutating func replace() {
        renewals += 1
        predecessor = instance
        current = "\(instance).\(renewals)"
    }
}
