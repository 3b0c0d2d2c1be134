import EventLoop
import FarmPolicy
import StoreProtocol

/// The shards of an app that the coordinator gave to this worker, with their parts of the budget.
///
/// Batches of a shard are checked out when its suppression list is known, and not while a cancelled job's pushes are taken back
/// from it: ``served(isReady:)``.
@Loop final class ServedShards {
    private var shards: [Int: FenceToken] = [:]
    /// Shards that are emptied and then served again.
    private var returning: Set<Int> = []
    /// Jobs whose batches a checkout under way may bring, though they were recalled.
    private var lateJobs: Set<String> = []
    /// What the whole farm may use, and into how many shards it is divided.
    private var budget = (farm: FarmBudget(), shards: 1)

    var count: Int { shards.count }

    func contains(where isMatch: (_ shard: Int, _ token: FenceToken) -> Bool) -> Bool {
        shards.contains { isMatch($0.key, $0.value) }
    }

    /// From now on these shards are served.
    ///
    /// - Parameter hasBegun: whether something of a shard may have been checked out.
    /// - Returns: withdrawn shards from which nothing was checked out.
    func assign(_ tokens: [Int: FenceToken], hasBegun: (_ shard: Int) -> Bool) -> [Int] {
        let withdrawn = shards.keys.filter { tokens[$0] == nil && !hasBegun($0) }.sorted()
        shards = tokens
        return withdrawn
    }

    /// The shards from which batches may be checked out.
    ///
    /// - Parameter isReady: whether a shard is served already, or its suppression list is known.
    func served(isReady: (_ shard: Int) -> Bool) -> [Int: FenceToken] {
        shards.filter { !returning.contains($0.key) && isReady($0.key) }
    }

    // MARK: Budget

    func follow(_ budget: FarmBudget, shards: Int) { self.budget = (budget, shards) }

    /// What the whole farm may send from now on, in pushes a second; nil: any number.
    func follow(budgetRate: Double?) { budget.farm.rate = budgetRate }

    /// This worker's part of the budget: a shard brings its part, and takes it away.
    var share: FarmBudget.Share {
        budget.farm.share(of: Set(shards.keys).filter { $0 < budget.shards }, among: budget.shards)
    }

    // MARK: Recall

    /// A checkout under way may bring batches of these jobs, which Redis assigned before they were recalled.
    func returnLateBatches(_ jobs: Set<String>) { lateJobs.formUnion(jobs) }

    /// Takes the jobs of recalls that the last checkout may not have heeded.
    func takeLateJobs() -> Set<String> {
        defer { lateJobs = [] }
        return lateJobs
    }

    /// Empties these shards, to serve them again afterwards.
    func returnBatches(_ shards: Set<Int>) { returning.formUnion(shards) }

    /// Nothing of these shards is held any more.
    ///
    /// - Returns: whether some are to be served again, and those that were withdrawn.
    func released(_ empty: [Int]) -> (servesAgain: Bool, withdrawn: [Int]) {
        let back = empty.filter { returning.remove($0) != nil && shards[$0] != nil }
        return (!back.isEmpty, empty.filter { shards[$0] == nil })
    }
}
