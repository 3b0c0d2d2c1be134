import EventLoop

/// Sends a suspect batch with nothing else in flight, whatever its app: if the worker crashes then, Redis knows which pushes
/// crashed it.
@Loop final class ExclusiveTurn {
    /// Sends batches of one app.
    @Loop protocol Member: AnyObject {
        /// A suspect batch could be sent.
        var hasSuspect: Bool { get }
        /// Pushes of a suspect batch are in flight, whether more of it can be sent or not.
        var hasSuspectInFlight: Bool { get }
        /// Nothing has credit, but for the suspect batch; or nothing can be sent at all.
        var isClearForSuspect: Bool { get }
        /// Nothing at all is in flight.
        var hasNothingInFlight: Bool { get }
        func schedule()
    }

    private var members: [any Member] = []
    private var wasWanted = false

    func join(_ member: any Member) { members.append(member) }

    /// A suspect batch is waiting for its turn or is having it: nothing else is checked out or asked credit for.
    var isWanted: Bool { members.contains { $0.hasSuspect || $0.hasSuspectInFlight } }

    /// Whether this member's suspect batch may go now: it is the first, and nothing else has credit.
    func admits(_ member: any Member) -> Bool {
        members.first { $0.hasSuspect } === member
            && members.allSatisfy { $0 === member || $0.isClearForSuspect && $0.hasNothingInFlight }
            && member.isClearForSuspect
    }

    /// Whether this member may send at all: a member that could not send while a suspect batch had its turn still has credit.
    func allows(_ member: any Member) -> Bool {
        !members.contains { $0 !== member && $0.hasSuspectInFlight }
    }

    /// A push of a suspect batch has come back: the air may be clear now.
    func noteResponse(to member: any Member) {
        if !member.hasSuspectInFlight { wake() }
    }

    /// A report was taken, or a batch was released: another sender may have its turn now.
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
