/// What all workers of all hosts together may make of an app's gateway; nil: any amount.
///
/// Each shard carries its part with it: the owner of the shard has its part, so the hosts keep to the sum without any agreement among
/// them.
package struct FarmBudget: Hashable, Sendable {
    /// Pushes a second.
    package var rate: Double?
    /// Bits a second.
    package var bandwidth: Double?
    package var connections: Int?

    package init(rate: Double? = nil, bandwidth: Double? = nil, connections: Int? = nil) {
        (self.rate, self.bandwidth, self.connections) = (rate, bandwidth, connections)
    }

    /// What a worker has of it.
    package struct Share: Hashable, Sendable {
        package var rate: Double?
        package var bandwidth: Double?
        package var connections: Int?
        /// The worker has shards, and none of them brings a connection: it has one beyond the budget.
        package var isBeyond = false

        package init() {}
    }

    /// The part of a rate that a worker without shards has: it sends nothing, but what it holds may come back to it.
    private static let least = 1e-6

    /// - Parameters:
    ///   - shards: numbers below `count`, each once.
    ///   - count: the farm's shards.
    package func share(of shards: Set<Int>, among count: Int) -> Share {
        precondition(count > 0, "a farm has at least one shard")
        let part = max(Self.least, Double(shards.count) / Double(count))
        var share = Share()
        share.rate = rate.map { $0 * part }
        share.bandwidth = bandwidth.map { $0 * part }
        guard let connections else { return share }
        let own = (0..<connections).count {
            shards.contains(Self.shard(ofConnection: $0, connections, count))
        }
        share.connections = max(1, own)
        share.isBeyond = own == 0 && !shards.isEmpty
        return share
    }

    /// The shard that brings a connection: they are spread evenly.
    private static func shard(ofConnection number: Int, _ connections: Int, _ shards: Int) -> Int {
        number * shards / connections
    }
}
