import EventLoop

/// Lets careful batches have the worker's air to themselves, whatever their app: if the worker crashes then, Redis knows
/// which pushes it was.
@Loop final class Solitude {
    private var members: [AppSender] = []
    private var wasWanted = false

    func join(_ sender: AppSender) { members.append(sender) }

    /// A careful batch is waiting for its turn or is having it: nothing else is checked out or asked credit for.
    var isWanted: Bool { members.contains { $0.carefulBatch != nil } }

    /// Whether this sender's careful batch may go now: it is the first, and nothing else has credit.
    func admits(_ sender: AppSender) -> Bool {
        members.first { $0.carefulBatch != nil } === sender
            && members.allSatisfy { $0.isStill && ($0 === sender || $0.pool.openStreams == 0) }
    }

    /// Something was handed over, or a batch is gone: another sender's turn may have come.
    func changed() {
        let isWanted = isWanted
        guard isWanted || wasWanted else { return }
        wasWanted = isWanted
        for member in members { member.schedule() }
    }
}
