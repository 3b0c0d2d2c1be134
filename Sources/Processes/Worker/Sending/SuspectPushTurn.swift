import EventLoop

/// Ensures that a worker has no other push of any app in flight while the worker sends a suspect batch. If the worker crashes
/// during this time, the cause is probably a push of the suspect batch.
@Loop final class SuspectPushTurn {
    /// A sender of one app's batches.
    @Loop protocol Member: AnyObject {
        /// Whether the sender holds a suspect batch that may be sent.
        var hasSuspect: Bool { get }
        /// Whether pushes of a suspect batch are in flight, even if the sender may send no further push of the batch.
        var hasSuspectInFlight: Bool { get }
        /// Whether none of the sender's other batches has credit, or the sender can send nothing at all.
        var isClearForSuspect: Bool { get }
        var hasNothingInFlight: Bool { get }
        func schedule()
    }

    private var members: [any Member] = []
    private var wasWanted = false

    func join(_ member: any Member) { members.append(member) }

    /// Whether a suspect batch waits to be sent or is being sent. During this time, other batches are not checked out and get no
    /// credit.
    var isWanted: Bool { members.contains { $0.hasSuspect || $0.hasSuspectInFlight } }

    /// Returns whether this member may send its suspect batch now. This needs three conditions: no earlier member in the list has
    /// a suspect batch, no other batch of any member has credit, and no other member has pushes in flight.
    func maySendSuspect(_ member: any Member) -> Bool {
        members.first { $0.hasSuspect } === member
            && members.allSatisfy { $0 === member || $0.isClearForSuspect && $0.hasNothingInFlight }
            && member.isClearForSuspect
    }

    /// Returns whether this member may send at all. While another member has a suspect batch in flight, this member
    /// must wait, even if it still has credit.
    func maySend(_ member: any Member) -> Bool {
        !members.contains { $0 !== member && $0.hasSuspectInFlight }
    }

    /// Called after a response to a push of a suspect batch. When no push of the suspect batch is in flight any more, wakes the
    /// other members, so that they continue to send.
    func noteResponse(to member: any Member) {
        if !member.hasSuspectInFlight { wake() }
    }

    /// Called after Redis has accepted a report, or after a batch was released. After such a change, a member that has waited may
    /// be allowed to send.
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
