/// Chooses the size of an automatic step up: the number of connections doubles, or returns at once to the number that the app used
/// recently, but does not exceed the number that the worker's thread can serve.
struct ConnectionForecast: Hashable {
    /// The load that a thread should not exceed.
    private static let fullLoad = 0.9
    /// After this time without use, a former number of connections counts half.
    private static let halfLife = Duration.seconds(600)

    private struct Use: Hashable {
        let count: Int
        let at: Instant
    }

    /// The most connections that were in use when pushes waited for streams; see ``halfLife``.
    private var former: Use?

    /// Notes that all streams of this number of connections were in use while pushes waited.
    mutating func noteUse(of count: Int, at now: Instant) {
        if count >= formerCount(at: now) { former = Use(count: count, at: now) }
    }

    /// Returns the number of connections after a step up.
    ///
    /// The thread needs the same time for each push, so with `load` for `count` connections, it can serve `count` × full load /
    /// `load` connections.
    ///
    /// - Parameters:
    ///   - count: the present number of connections, at least 1.
    ///   - load: the load of the worker's thread, 0...1. It is below ``fullLoad``, or there is no step up.
    func next(after count: Int, load: Double, at now: Instant) -> Int {
        let wanted = max(ConnectionScaling.automatic.up(from: count), formerCount(at: now))
        let possible = Int(clamping: (Double(count) * Self.fullLoad / max(load, 0.01)).rounded(.down))
        return max(count + 1, min(wanted, possible))
    }

    private func formerCount(at now: Instant) -> Int {
        guard let former else { return 0 }
        let halvings = Int(clamping: ((now - former.at) / Self.halfLife).rounded(.down))
        return former.count >> max(0, min(halvings, 62))
    }
}
