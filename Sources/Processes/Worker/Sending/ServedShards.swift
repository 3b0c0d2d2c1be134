import Delivery
import EventLoop
import FarmPolicy
import StoreProtocol

/// The shards of an app that the coordinator gave to this worker, with their parts of the budget; the window has those of them
/// from which batches may be checked out.
///
/// Nothing of a shard is checked out before its suppression list is known, nor while a cancelled job's pushes are taken back from it.
@Loop final class ServedShards {
    private let window: Window
    private let lists: SuppressionLists
    /// Called when the window has other shards.
    private let onChange: @Loop () -> Void
    /// Called with withdrawn shards of which nothing is held any more.
    private let onReleased: @Loop (_ shards: [Int]) -> Void

    private var shards: [Int: FenceToken] = [:]
    /// Shards that are emptied and then served again.
    private var returning: Set<Int> = []
    /// Jobs whose batches a checkout under way may bring, though they were recalled.
    private var lateJobs: Set<String> = []
    /// What the whole farm may use, and into how many shards it is divided.
    private var budget = (farm: FarmBudget(), shards: 1)

    init(
        _ window: Window, _ lists: SuppressionLists, onChange: @escaping @Loop () -> Void,
        onReleased: @escaping @Loop (_ shards: [Int]) -> Void
    ) {
        (self.window, self.lists) = (window, lists)
        (self.onChange, self.onReleased) = (onChange, onReleased)
    }

    var count: Int { shards.count }

    /// These shards are served from now on; the others are withdrawn.
    func assign(_ tokens: [Int: FenceToken]) {
        let withdrawn = shards.keys.filter { tokens[$0] == nil && window.shards.token(of: $0) == nil }
        shards = tokens
        // One that went to another owner and is back is read again.
        lists.serve(tokens.keys)
        serveKnown()
        if !withdrawn.isEmpty { onReleased(withdrawn.sorted()) }
    }

    /// The suppression lists of some shards are known.
    func suppressionsAreKnown() {
        let mayServeMore = shards.contains { shard, token in
            window.shards.tokens[shard] != token && lists.isLoaded(shard)
        }
        if mayServeMore { serveKnown() }
    }

    private func serveKnown() {
        window.now = .now
        window.assign(
            shards.filter { shard, _ in
                !returning.contains(shard) && (lists.isLoaded(shard) || window.shards.tokens[shard] != nil)
            })
        onChange()
    }

    func follow(_ budget: FarmBudget, shards: Int) { self.budget = (budget, shards) }

    /// What the whole farm may send from now on, in pushes a second; nil: any number.
    func follow(budgetRate: Double?) { budget.farm.rate = budgetRate }

    /// This worker's part of the budget: a shard brings its part, and takes it away.
    var share: FarmBudget.Share {
        budget.farm.share(of: Set(shards.keys).filter { $0 < budget.shards }, among: budget.shards)
    }

    /// Gives back the batches of these jobs that are not in flight. The whole shard goes back, so that nothing overtakes, and is served
    /// again when nothing of it is held.
    func returnBatches(jobs: Set<String>, shards: some Sequence<Int>) {
        // What a checkout under way brings may have been assigned before the order was given.
        if window.isCheckingOut { lateJobs.formUnion(jobs) }
        empty(window.shards(of: jobs).union(shards))
    }

    /// A checkout may have brought batches of jobs that were to be given back.
    func returnLateBatches() {
        guard !lateJobs.isEmpty else { return }
        let jobs = lateJobs
        lateJobs = []
        empty(window.shards(of: jobs))
    }

    private func empty(_ wanted: Set<Int>) {
        let mine = wanted.filter { window.shards.tokens[$0] != nil }
        guard !mine.isEmpty else { return }
        returning.formUnion(mine)
        serveKnown()
    }

    /// Nothing of these shards is held any more. Those that were recalled are served again.
    func released(_ empty: [Int]) {
        let back = empty.filter { returning.remove($0) != nil && shards[$0] != nil }
        if !back.isEmpty { serveKnown() }
        let withdrawn = empty.filter { shards[$0] == nil }
        if !withdrawn.isEmpty { onReleased(withdrawn) }
    }
}
