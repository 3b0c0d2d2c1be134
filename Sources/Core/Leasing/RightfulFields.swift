import FarmPolicy
import StoreProtocol

/// The leases of an app that should belong to a host.
struct RightfulFields {
    /// Who should own what, as far as we know.
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
        return Set(all.filter { shares.owner(of: $0.place) == host })
    }
}

extension LeaseField {
    fileprivate var place: HostShares.Place {
        switch self {
        case .intake: .intake
        case .shard(let number): .shard(number)
        }
    }
}
