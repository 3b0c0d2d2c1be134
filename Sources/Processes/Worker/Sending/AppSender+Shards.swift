import ControlChannel
import Delivery
import FarmPolicy
import StoreProtocol

/// The shards that the coordinator gives and takes.
extension AppSender {
    /// These shards are served from now on; the others are withdrawn.
    func assign(_ tokens: [Int: FenceToken]) {
        let withdrawn = shards.assign(tokens) { window.token(of: $0) != nil }
        // One that went to another owner and is back is read again.
        suppressionLists.serve(tokens.keys)
        takeShare()
        serveKnown()
        if !withdrawn.isEmpty {
            context.notify(.released(app: name, shards: withdrawn.map { UInt16($0) }))
        }
    }

    func takeShare() { governor.follow(shards.share) }

    /// What the whole farm may send from now on, in pushes a second; nil: any number.
    func follow(budgetRate: Double?) {
        shards.follow(budgetRate: budgetRate)
        takeShare()
        schedule()
    }

    /// Nothing of a shard is checked out before its suppression list is known, nor while it is emptied.
    private func serveKnown() {
        window.now = .now
        window.assign(shards.served { suppressionLists.isLoaded($0) || window.servedToken(of: $0) != nil })
        schedule()
    }

    /// The suppression lists of some shards are known.
    func suppressionsAreKnown() {
        let mayServeMore = shards.contains { shard, token in
            window.servedToken(of: shard) != token && suppressionLists.isLoaded(shard)
        }
        if mayServeMore { serveKnown() }
        resumeIfKnown()
    }

    // MARK: Recall

    /// Gives back the batches of these jobs that are not in flight. The whole shard goes back, so that nothing overtakes, and is served
    /// again when nothing of it is held.
    func returnBatches(jobs: [String], shards: [Int]) {
        let ids = Set(jobs)
        // What a checkout under way brings may have been assigned before the order was given.
        if window.isCheckingOut { self.shards.returnLateBatches(ids) }
        empty(window.shards(of: ids).union(shards))
    }

    /// A checkout may have brought batches of jobs that were to be given back.
    func returnLateBatches() {
        let jobs = shards.takeLateJobs()
        if !jobs.isEmpty { empty(window.shards(of: jobs)) }
    }

    private func empty(_ wanted: Set<Int>) {
        let mine = wanted.filter { window.servedToken(of: $0) != nil }
        guard !mine.isEmpty else { return }
        shards.returnBatches(mine)
        serveKnown()
    }

    /// Nothing of these shards is held any more. Those that were recalled are served again.
    func released(_ empty: [Int]) {
        let (servesAgain, withdrawn) = shards.released(empty)
        if servesAgain { serveKnown() }
        if !withdrawn.isEmpty {
            context.notify(.released(app: name, shards: withdrawn.map { UInt16($0) }))
        }
    }
}
