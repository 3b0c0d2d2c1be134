import ControlChannel
import FarmPolicy
import FarmStore

/// The shards that the coordinator gives and takes, with their parts of the budget.
extension AppSender {
    /// These shards are served from now on; the others are withdrawn.
    func assign(_ tokens: [Int: FenceToken]) {
        let begun = shards.keys.filter { window.shards.token(of: $0) != nil }
        let withdrawn = shards.keys.filter { tokens[$0] == nil && !begun.contains($0) }.sorted()
        // One that went to another owner and is back is read again.
        deadTokens.serve(tokens.keys)
        shards = tokens
        takeShare()
        serveKnown()
        if !withdrawn.isEmpty {
            context.tell(.released(app: name, shards: withdrawn.map { UInt16($0) }))
        }
    }

    /// A shard brings its part of the budget, and takes it away.
    func takeShare() {
        let known = Set(shards.keys).filter { $0 < budget.shards }
        governor.follow(budget.farm.share(of: known, among: budget.shards))
    }

    /// What the whole farm may send from now on, in pushes a second; nil: any number.
    func follow(budgetRate: Double?) {
        budget.farm.rate = budgetRate
        takeShare()
        schedule()
    }

    /// Nothing of a shard is checked out before its dead tokens are known, nor while it is emptied.
    private func serveKnown() {
        window.now = .now
        window.assign(
            shards.filter {
                !recalled.contains($0.key)
                    && (deadTokens.isLoaded($0.key) || window.shards.tokens[$0.key] != nil)
            })
        schedule()
    }

    // MARK: Recall

    /// What is not in the air of these jobs goes back. The whole shard does, so that nothing overtakes, and is served
    /// again when nothing of it is in hand.
    func recall(jobs: [String], shards: [Int]) {
        let ids = Set(jobs)
        // What a checkout under way brings may have been given before the order was.
        if window.isCheckingOut { recalledLate.formUnion(ids) }
        empty(window.shards(of: ids).union(shards))
    }

    /// A checkout brought what it was given before a recall.
    func recallLate() {
        guard !recalledLate.isEmpty else { return }
        let ids = recalledLate
        recalledLate = []
        empty(window.shards(of: ids))
    }

    private func empty(_ shards: Set<Int>) {
        let mine = shards.filter { window.shards.tokens[$0] != nil }
        guard !mine.isEmpty else { return }
        recalled.formUnion(mine)
        serveKnown()
    }

    /// Nothing of these shards is in hand any more. Those that were recalled are served again.
    func released(_ empty: [Int]) {
        let back = empty.filter { recalled.remove($0) != nil && shards[$0] != nil }
        if !back.isEmpty { serveKnown() }
        let gone = empty.filter { shards[$0] == nil }
        if !gone.isEmpty { context.tell(.released(app: name, shards: gone.map { UInt16($0) })) }
    }

    func deadTokensAreKnown() {
        if shards.contains(where: { window.shards.tokens[$0.key] != $0.value && deadTokens.isLoaded($0.key) })
        {
            serveKnown()
        }
        if resumesWhenWhole, deadTokens.isWhole {
            resumesWhenWhole = false
            resume()
        }
    }
}
