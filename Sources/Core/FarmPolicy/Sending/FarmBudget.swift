/// The limits that all workers of all hosts together must keep for an app's gateway; nil means unlimited.
///
/// Each shard carries an equal part of the limits. The owner of a shard may use the shard's part, so the hosts together keep the
/// limits without coordination.
package struct FarmBudget: Hashable, Sendable {
    /// Pushes per second.
    package var rate: Double?
    /// Bits per second.
    package var bandwidth: Double?
    package var connections: Int?

    package init(rate: Double? = nil, bandwidth: Double? = nil, connections: Int? = nil) {
        (self.rate, self.bandwidth, self.connections) = (rate, bandwidth, connections)
    }

    /// A worker's part of the limits.
    package struct Share: Hashable, Sendable {
        package var rate: Double?
        package var bandwidth: Double?
        package var connections: Int?
        /// Whether the worker has shards, but none of its shards carries a connection of the budget. The worker then uses one
        /// connection beyond the budget.
        package var isBeyond = false

        package init() {}
    }

    /// The part of the rate for a worker without shards. Without shards, the worker sends nothing. The part is not 0, because
    /// batches that the worker still holds may become sendable again.
    private static let least = 1e-6

    /// - Parameters:
    ///   - shards: distinct numbers below `count`.
    ///   - count: the number of shards of the farm.
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

    /// Returns the shard that carries a connection; connections are spread evenly over the shards.
    private static func shard(ofConnection number: Int, _ connections: Int, _ shards: Int) -> Int {
        number * shards / connections
    }
}
