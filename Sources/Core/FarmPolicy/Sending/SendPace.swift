/// How many pushes one binary connection may have written and not yet know to be safe: about as many as get by before one is
/// refused, for the gateway discards what comes after that one.
///
/// One for all connections to an app's gateway: how many tokens are bad concerns them all.
package struct SendPace: Hashable, Sendable {
    package static let least = 16
    package static let most = 65_536
    private static let leastBlind = 64
    private static let mostBlind = 1024
    /// So many accepted pushes between two refusals are expected of a gateway that nothing is known of.
    private static let expectedRun = 1024
    /// More than the mean run, or connections would wait for the quiet that proves them safe instead of for the next refusal.
    private static let runs = 4

    /// The mean number of accepted pushes between two refusals.
    private var run = Self.expectedRun
    private var safeInARow = 0
    /// A refusal was seen, and no whole window without one since.
    package private(set) var isRefusing = false
    /// A whole window was seen without a refusal, and none since.
    private var isClean = false

    private let most: Int

    /// - Parameter isBlind: the gateway never names what it refused, so all pushes of unknown outcome go again: few at a time.
    package init(isBlind: Bool = false) {
        most = isBlind ? Self.mostBlind : Self.most
        if isBlind { (run, window, isClean) = (Self.leastBlind / Self.runs, Self.leastBlind, true) }
    }

    /// Pushes that a connection may have in its window.
    package private(set) var window = Self.runs * Self.expectedRun

    /// Pushes that a connection will probably get accepted: no more than go by before the next refusal, or all of a window as
    /// long as there are none.
    package var share: Int { isClean ? window : min(max(run, Self.least), window) }

    /// How many of the `open` pushes of a connection will probably come back because they are behind a bad token, less those for which
    /// it will have room before it carries its share.
    ///
    /// With bad tokens at random, one in ``share``, it would be open - share * (1 - exp(-open / share)); this is close to that.
    package func returning(of open: Int) -> Int {
        guard isRefusing else { return 0 }
        return open * open / (open + 2 * max(1, share)) - max(0, share - open)
    }

    /// The part of `waiting` pushes that one of so many connections gets: the last of a list with bad tokens are spread, or the bad ones
    /// among them would be found one after the other.
    package func part(of waiting: Int, over connections: Int) -> Int {
        isRefusing ? max(min(Self.least, share), min(share, waiting / max(1, connections))) : share
    }

    /// A push was refused after `accepted` others on its connection.
    package mutating func refused(after accepted: Int) {
        run = (7 * run + accepted) / 8
        window = min(max(Self.runs * run, Self.least), most)
        safeInARow = 0
        (isRefusing, isClean) = (true, false)
    }

    /// So many were accepted and no one was refused: a whole window of them, and it may be twice as large.
    package mutating func accepted(_ count: Int) {
        safeInARow += count
        guard safeInARow >= window else { return }
        (isRefusing, isClean) = (false, true)
        guard window < most else { return }
        safeInARow = 0
        window = min(2 * window, most)
        run = window / Self.runs
    }

    /// A connection was given up because the gateway took nothing more of it: no more in one window than the `accepted` that it did
    /// take.
    package mutating func stalled(after accepted: Int) {
        window = min(window, max(accepted, Self.least))
        run = max(1, window / Self.runs)
        safeInARow = 0
    }

    /// A connection ended and it is unknown which of the pushes in its window caused that: fewer at a time, so that it can be
    /// found.
    package mutating func becameUnknown() {
        window = max(1, window / 2)
        run = max(1, window / Self.runs)
        safeInARow = 0
    }
}

/// How many connections to a binary gateway are to be dialled now.
///
/// Each bad token takes a connection out of service until the gateway's reply comes, and says nothing until then. So while pushes wait
/// that no connection has room for, more connections are made, up to the limit, however long a reply or a dial takes.
package struct ConnectionDemand: Hashable, Sendable {
    /// Connections that are allowed.
    package var most: Int
    /// Connections that take pushes.
    package var living: Int
    /// Of these, those that a reply will probably have ended when a dial that begins now is done.
    package var ending: Int
    /// Pushes that are on connections, will probably come back from behind a bad token, and find no room on the others:
    /// see ``SendPace/returning(of:)``.
    package var returning = 0
    /// Dials under way.
    package var dialling: Int
    /// Pushes that one connection will probably get accepted: see ``SendPace/share``.
    package var share: Int
    /// Pushes for which it is worth making a connection: see ``SendPace/part(of:over:)``.
    package var part: Int

    /// Fewer pushes are not worth a call to Redis.
    private static let leastHeadroom = 512

    package init(most: Int, living: Int = 0, ending: Int = 0, dialling: Int = 0, share: Int, part: Int) {
        (self.most, self.living, self.ending) = (most, living, min(ending, living))
        (self.dialling, self.share, self.part) = (dialling, share, max(1, part))
    }

    /// Connections that may be dialled in addition to those under way.
    ///
    /// Dials and connections together are as many as allowed, but for those that end before a dial is done.
    package var free: Int { max(0, min(most - dialling, most - (living - ending) - dialling)) }

    /// Connections to dial for held pushes that no connection has room for, and for those that will come back: when the last of a list
    /// are sent, a dial that begins with the reply would come too late.
    package func dials(for waiting: Int) -> Int {
        let pushes = waiting + returning
        guard pushes > 0 else { return 0 }
        let wanted = pushes / part + (pushes % part > 0 ? 1 : 0)
        return min(free, max(0, wanted - dialling))
    }

    /// Pushes worth holding for connections that are not made yet: for those under way and one more, which is
    /// dialled when there is enough for it.
    package var headroom: Int { max(share, Self.leastHeadroom) * min(dialling + free, dialling + 1) }
}
