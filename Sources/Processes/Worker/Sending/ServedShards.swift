import Delivery
import EventLoop
import FarmPolicy
import StoreProtocol

/// The shards of an app that the coordinator gave to this worker, with their parts of the budget. The window gets
/// only the shards from which batches may be checked out.
///
/// No batches of a shard are checked out before its suppression list is known, or while batches of the shard are being
/// returned to Redis because of a job.
@Loop final class ServedShards {
    private let window: DeliveryWindow
    private let lists: SuppressionLists
    /// Called when the window's shards have changed.
    private let onChange: @Loop () -> Void
    /// Called with withdrawn shards that have no held batches.
    private let onReleased: @Loop (_ shards: [Int]) -> Void

    private var shards: [Int: FenceToken] = [:]
    /// Shards whose batches are returned to Redis before the shards are served again.
    private var returning: Set<Int> = []
    /// Jobs whose batches must go back to Redis but may still arrive with a checkout in progress.
    private var lateJobs: Set<String> = []
    /// The budget of the whole farm, and the number of shards that share this budget.
    private var budget = (farm: FarmBudget(), shards: 1)

    init(
        _ window: DeliveryWindow, _ lists: SuppressionLists, onChange: @escaping @Loop () -> Void,
        onReleased: @escaping @Loop (_ shards: [Int]) -> Void
    ) {
        (self.window, self.lists) = (window, lists)
        (self.onChange, self.onReleased) = (onChange, onReleased)
    }

    var count: Int { shards.count }

    /// Sets the served shards and withdraws all other shards.
    func assign(_ tokens: [Int: FenceToken]) {
        let withdrawn = shards.keys.filter { tokens[$0] == nil && window.shards.token(of: $0) == nil }
        shards = tokens
        // The suppression list of a shard that returns from another owner is read again.
        lists.serve(tokens.keys)
        serveLoadedShards()
        if !withdrawn.isEmpty { onReleased(withdrawn.sorted()) }
    }

    /// Serves shards whose suppression lists have become known.
    func suppressionsAreLoaded() {
        let mayServeMore = shards.contains { shard, token in
            window.shards.tokens[shard] != token && lists.isLoaded(shard)
        }
        if mayServeMore { serveLoadedShards() }
    }

    private func serveLoadedShards() {
        window.now = .now
        window.assign(
            shards.filter { shard, _ in
                !returning.contains(shard) && (lists.isLoaded(shard) || window.shards.tokens[shard] != nil)
            })
        onChange()
    }

    func apply(_ budget: FarmBudget, shards: Int) { self.budget = (budget, shards) }

    /// Sets the rate limit of the whole farm in pushes per second; nil means unlimited.
    func apply(budgetRate: Double?) { budget.farm.rate = budgetRate }

    /// This worker's part of the budget. It is the sum of the parts of all served shards.
    var share: FarmBudget.Share {
        budget.farm.share(of: Set(shards.keys).filter { $0 < budget.shards }, among: budget.shards)
    }

    /// Returns batches with unsent pushes of these jobs to Redis. All batches in the shards of these jobs are
    /// returned, so that no push overtakes another. The shards are served again when this worker holds no batch of
    /// the shards.
    func returnBatches(jobs: Set<String>, shards: some Sequence<Int>) {
        // A checkout in progress may bring batches that were assigned before this call.
        if window.isCheckingOut { lateJobs.formUnion(jobs) }
        empty(window.shards(of: jobs).union(shards))
    }

    /// Returns the batches that a checkout has brought after ``returnBatches(jobs:shards:)`` was called for their jobs.
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
        serveLoadedShards()
    }

    /// Handles shards without held batches. A shard whose batches were returned because of a job is served again.
    func released(_ empty: [Int]) {
        let back = empty.filter { returning.remove($0) != nil && shards[$0] != nil }
        if !back.isEmpty { serveLoadedShards() }
        let withdrawn = empty.filter { shards[$0] == nil }
        if !withdrawn.isEmpty { onReleased(withdrawn) }
    }
}
