/// What the connections add up to.
extension ConnectionPool {
    package var openStreams: Int { connections.reduce(0) { $0 + $1.openStreams } }

    /// Pushes that all connections together allow to be open.
    package var limit: Int { connections.reduce(0) { $0 + $1.limit } }

    /// A connection sends less than its gateway allows, because that was in trouble.
    package var isSlowed: Bool { connections.contains { $0.isSlowed } }

    /// Whether the gateway has lowered the streams of a connection since the last call.
    package func takeLowered() -> Bool { connections.reduce(false) { $1.takeLowered() || $0 } }
}
