/// Sums over all connections of the pool.
extension ConnectionPool {
    package var openStreams: Int { connections.reduce(0) { $0 + $1.openStreams } }

    /// The maximum number of pushes in flight on all connections together.
    package var limit: Int { connections.reduce(0) { $0 + $1.limit } }

    /// Whether some connection sends less than its gateway allows, because the gateway had trouble.
    package var isSlowed: Bool { connections.contains { $0.isSlowed } }

    /// Returns whether the gateway has lowered the stream limit of a connection since the last call.
    package func takeLowered() -> Bool { connections.reduce(false) { $1.takeLowered() || $0 } }
}
