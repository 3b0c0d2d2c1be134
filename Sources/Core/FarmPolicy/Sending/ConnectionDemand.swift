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
