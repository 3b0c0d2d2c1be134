import EventLoop

/// Lets careful batches have the worker's air to themselves, whatever their app: if the worker crashes then, Redis knows
/// which pushes it was.
@Loop final class ExclusiveTurn {
    /// Sends batches of one app.
    @Loop protocol Member: AnyObject {
        /// A careful batch could be sent.
        var hasCareful: Bool { get }
        /// Pushes of a careful batch are in the air, whether more of it can be sent or not.
        var hasCarefulInAir: Bool { get }
        /// Nothing has credit, but for the careful batch; or nothing can be sent at all.
        var isStill: Bool { get }
        /// Nothing at all is in the air.
        var hasClearAir: Bool { get }
        func schedule()
    }

    private var members: [any Member] = []
    private var wasWanted = false

    func join(_ member: any Member) { members.append(member) }

    /// A careful batch is waiting for its turn or is having it: nothing else is checked out or asked credit for.
    var isWanted: Bool { members.contains { $0.hasCareful || $0.hasCarefulInAir } }

    /// Whether this member's careful batch may go now: it is the first, and nothing else has credit.
    func admits(_ member: any Member) -> Bool {
        members.first { $0.hasCareful } === member
            && members.allSatisfy { $0 === member || $0.isStill && $0.hasClearAir } && member.isStill
    }

    /// Whether this member may send at all: who could not while a careful batch was let go still has credit.
    func lets(_ member: any Member) -> Bool {
        !members.contains { $0 !== member && $0.hasCarefulInAir }
    }

    /// A push of a careful batch has come back: the air may be clear now.
    func cameBack(to member: any Member) {
        if !member.hasCarefulInAir { wake() }
    }

    /// Something was handed over, or a batch is gone: another sender's turn may have come.
    func changed() {
        let isWanted = isWanted
        guard isWanted || wasWanted else { return }
        wasWanted = isWanted
        wake()
    }

    private func wake() {
        for member in members { member.schedule() }
    }
}
