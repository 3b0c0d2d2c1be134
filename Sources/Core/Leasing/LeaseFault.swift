/// Faults that tests put into ``HeldLeases``: the simulation must notice each of them.
package enum LeaseFault: Sendable {
    /// Asks for leases that it is giving back.
    case asksForGivenBack
    /// Keeps leases that another owner has taken.
    case keepsLost
    /// Serves shards before pushes of the owner before were swept.
    case servesUnswept
    /// Serves shards that it is handing over.
    case servesLeaving
    /// Gives shards back that its workers still have.
    case givesBackAtOnce
    /// Gives shards back that a worker released and has again.
    case givesBackServed
    case handsNothingOver
    /// Keeps a shard that it was handing over, and does not say so.
    case changesSilently
    case forgetsToGiveBack
    /// Takes whatever is free at once.
    case takesAll
}
