/// Limits how many written pushes of one binary connection may lack confirmation. The limit is a small multiple of the mean
/// number of accepted pushes between two refusals, because the gateway discards all pushes that follow a refused push.
///
/// All connections to an app's gateway share one limit, because all connections get the same share of bad tokens.
package struct BinaryWindowLimit: Hashable, Sendable {
    package static let least = 16
    package static let most = 65_536
    private static let leastBlind = 64
    private static let mostBlind = 1024
    /// The expected number of accepted pushes between two refusals before anything is known about the
    /// gateway.
    private static let expectedRun = 1024
    /// The window is this many times the mean number of accepted pushes between two refusals. With a smaller window, connections
    /// would often have to wait for a quiet time to confirm pushes.
    private static let runs = 4

    /// The mean number of accepted pushes between two refusals.
    private var run = Self.expectedRun
    private var safeInARow = 0
    /// Whether the gateway has refused a push, and since then has not accepted a whole window of pushes.
    package private(set) var isRefusing = false
    /// Whether the gateway has accepted a whole window of pushes, and since then has refused no push.
    private var isClean = false

    private let most: Int

    /// - Parameter isBlind: whether the gateway never names a refused push. If so, all pushes with unknown outcome are sent again
    ///   after a connection has ended, so the window is small.
    package init(isBlind: Bool = false) {
        most = isBlind ? Self.mostBlind : Self.most
        if isBlind { (run, window, isClean) = (Self.leastBlind / Self.runs, Self.leastBlind, true) }
    }

    /// The number of pushes that a connection may have in its window.
    package private(set) var window = Self.runs * Self.expectedRun

    /// The number of pushes that the gateway will probably accept on a connection: the mean number of accepted pushes between two
    /// refusals, or a whole window while there are no refusals.
    package var share: Int { isClean ? window : min(max(run, Self.least), window) }

    /// Estimates how many of a connection's `open` pushes must be sent again because they follow a bad token. Pushes that will
    /// find room on the same connection later are subtracted.
    ///
    /// If one token in ``share`` is bad at random, the exact number is open - share * (1 - exp(-open / share)). This function
    /// returns an approximation.
    package func returning(of open: Int) -> Int {
        guard isRefusing else { return 0 }
        return open * open / (open + 2 * max(1, share)) - max(0, share - open)
    }

    /// The part of the `waiting` pushes that each connection gets. The last pushes of a list with bad tokens are spread over
    /// several connections, because on one connection the bad tokens would be found one after the other.
    package func part(of waiting: Int, over connections: Int) -> Int {
        isRefusing ? max(min(Self.least, share), min(share, waiting / max(1, connections))) : share
    }

    /// Notes that a push was refused after `accepted` other pushes on its connection.
    package mutating func refused(after accepted: Int) {
        run = (7 * run + accepted) / 8
        window = min(max(Self.runs * run, Self.least), most)
        safeInARow = 0
        (isRefusing, isClean) = (true, false)
    }

    /// Notes accepted pushes without a refusal. After a whole window of pushes without a refusal, the window may double.
    package mutating func accepted(_ count: Int) {
        safeInARow += count
        guard safeInARow >= window else { return }
        (isRefusing, isClean) = (false, true)
        guard window < most else { return }
        safeInARow = 0
        window = min(2 * window, most)
        run = window / Self.runs
    }

    /// Notes that a connection was closed because the gateway stopped reading. The window shrinks to the number of pushes that
    /// the gateway had accepted.
    package mutating func stalled(after accepted: Int) {
        window = min(window, max(accepted, Self.least))
        run = max(1, window / Self.runs)
        safeInARow = 0
    }

    /// Notes that a connection ended and the push that caused the end is unknown. The window shrinks, so that the push can be
    /// found among fewer pushes.
    package mutating func becameUnknown() {
        window = max(1, window / 2)
        run = max(1, window / Self.runs)
        safeInARow = 0
    }
}

/// Computes how many connections to a binary gateway to dial now.
///
/// A bad token takes a connection out of service until the gateway's reply arrives. While pushes find no room on any
/// connection, more connections are opened, up to the limit, even if replies or dials take long.
package struct ConnectionDemand: Hashable, Sendable {
    /// The maximum number of connections.
    package var most: Int
    /// The number of connections that accept pushes.
    package var live: Int
    /// The number of connections in ``live`` that a refused push will probably end before a new dial is complete.
    package var ending: Int
    /// The number of pushes that must probably be sent again because they followed a bad token, and that will find no room on
    /// other connections: see ``BinaryWindowLimit/returning(of:)``.
    package var returning = 0
    /// The number of dials in progress.
    package var dialling: Int
    /// The number of pushes that the gateway will probably accept on one connection: see ``BinaryWindowLimit/share``.
    package var share: Int
    /// The number of pushes that justifies a new connection: see ``BinaryWindowLimit/part(of:over:)``.
    package var part: Int

    /// The smallest number of pushes that is worth a call to Redis.
    private static let leastHeadroom = 512

    package init(most: Int, live: Int = 0, ending: Int = 0, dialling: Int = 0, share: Int, part: Int) {
        (self.most, self.live, self.ending) = (most, live, min(ending, live))
        (self.dialling, self.share, self.part) = (dialling, share, max(1, part))
    }

    /// How many more connections may be dialled.
    ///
    /// Dials and connections together stay within the limit. Connections that will end before a dial
    /// completes do not count.
    package var free: Int { max(0, min(most - dialling, most - (live - ending) - dialling)) }

    /// Returns the number of connections to dial for `waiting` pushes without room on a connection and for pushes that must
    /// probably be sent again (``returning``). Pushes that must be sent again count already before the gateway's reply, because
    /// at the end of a list of tokens, a dial after the reply would be too late.
    package func dials(for waiting: Int) -> Int {
        let pushes = waiting + returning
        guard pushes > 0 else { return 0 }
        let wanted = pushes / part + (pushes % part > 0 ? 1 : 0)
        return min(free, max(0, wanted - dialling))
    }

    /// The number of pushes to hold for future connections. Future connections are the connections that are being dialled, and
    /// one more connection, which is dialled when enough pushes are held.
    package var headroom: Int { max(share, Self.leastHeadroom) * min(dialling + free, dialling + 1) }
}
