import EventLoop
import StoreProtocol

/// Results entries that cannot be settled. They stay in the stream until a program version that can read them settles
/// them, or until `debug fsck --repair` removes them.
@Loop final class UnsettleableEntries {
    private let context: AppContext
    /// The ids of the entries. Redis also stores the ids (``NoteUnsettleable``).
    private var ids: Set<EntryID> = []
    /// Called if an entry's id could not be stored in Redis. The entry is then read again, and its id is stored again.
    private let readAgain: @Loop () -> Void

    private static let most = 10_000

    init(_ context: AppContext, readAgain: @escaping @Loop () -> Void) {
        (self.context, self.readAgain) = (context, readAgain)
    }

    func contains(_ id: EntryID) -> Bool { ids.contains(id) }

    func add(_ id: EntryID, _ reason: String) {
        guard ids.count < Self.most, ids.insert(id).inserted else { return }
        context.log.error(
            "results entry cannot be settled and stays in the stream",
            metadata: ["entry": "\(id)", "reason": "\(reason)"])
        let note = NoteUnsettleable(id, at: context.clock.milliseconds, reason: reason)
        context.store.send(note) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let isNew): if isNew { notifyProducers(id, reason) }
            case .failure(let error):
                guard error.isTemporary else { return }
                ids.remove(id)
                readAgain()
            }
        }
    }

    private func notifyProducers(_ id: EntryID, _ reason: String) {
        var event = FarmEvent(.unreadable)
        event.add("entry", bytes: id.bytes)
        event.add("reason", reason)
        context.store.send(AddEvent(event)) { _ in }
    }
}
