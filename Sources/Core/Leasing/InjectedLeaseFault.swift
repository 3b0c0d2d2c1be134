/// Faults that tests inject into ``LeaseStateMachine``. The simulation must detect each fault.
package enum InjectedLeaseFault: Sendable {
    /// Requests leases that the host is releasing.
    case asksForUnreleased
    /// Keeps leases that another owner has acquired.
    case keepsLost
    /// Serves shards before the batches of their previous owner are reclaimed.
    case servesUnreclaimed
    /// Serves shards that the host is handing over.
    case servesLeaving
    /// Releases shards while the host's workers still serve them.
    case releasesAtOnce
    /// Releases shards that a worker released, although the worker has received them again.
    case releasesServed
    case handsNothingOver
    /// Cancels the handover of a shard without notifying workers.
    case changesSilently
    case forgetsToRelease
    /// Acquires every free lease immediately.
    case takesAll
}
