/// How the connection and its gateway do.
extension PushExchange {
    /// Pushes sent and without an outcome, and streams of pushes given up that are still to close.
    var openStreams: Int { streams.open }
    /// The most pushes that may be open at a time.
    var limit: Int { streams.limit }
    /// It sends less than the gateway allows, because that was in trouble or refused streams.
    var isSlowed: Bool { streams.isSlowed }
    /// The gateway has refused every stream for a while, without acting on it.
    var isRefused: Bool { streams.isRefused }
    /// The gateway responded to more than a first push beside many that it did not process.
    var hasMadeProgress: Bool { streams.hasMadeProgress }
    /// Some response has proved that the gateway takes our credentials.
    var isProven: Bool { streams.isProven }
}
