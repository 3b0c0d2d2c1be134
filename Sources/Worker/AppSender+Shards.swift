import ControlChannel
import FarmPolicy
import FarmStore

/// The shards that the coordinator gives and takes, with their parts of the budget.
extension AppSender {
    /// These shards are served from now on; the others are withdrawn.
    func assign(_ tokens: [Int: FenceToken]) {
        let begun = shards.keys.filter { window.shards.token(of: $0) != nil }
        let withdrawn = shards.keys.filter { tokens[$0] == nil && !begun.contains($0) }.sorted()
        // One that went to somebody else and is back is read anew.
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

    /// Nothing of a shard is checked out before its dead tokens are known.
    private func serveKnown() {
        window.now = .now
        window.assign(
            shards.filter { deadTokens.isLoaded($0.key) || window.shards.tokens[$0.key] != nil })
        schedule()
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
