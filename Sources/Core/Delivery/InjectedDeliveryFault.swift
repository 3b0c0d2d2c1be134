/// Faults that tests inject into the window. The simulation must detect each fault.
package enum InjectedDeliveryFault: Sendable {
    // Faults in a held batch.
    /// Sends pushes of a batch that another worker owns.
    case sendsStale
    /// After Redis has lost its last writes, sends pushes of a batch before the batch is compared with the state in Redis.
    case sendsUncompared
    /// Uses one position more than Redis granted.
    case grantsMore
    /// Does not repeat a report that Redis has lost.
    case forgetsToRepeat
    /// Sends pushes again although this worker knows their outcomes from an earlier checkout of the batch.
    case restoresNothing
    /// Releases a stale batch while pushes are in flight.
    case releasesInFlight
    /// Sends pushes of a batch while the worker returns the batch to Redis.
    case sendsReturning
    /// When Redis assigns a batch to this worker again, forgets deliveries that are not reported yet.
    case beginsAgain
    /// Keeps a batch that Redis has released.
    case neverEnds
    /// Requests more credit than the limit allows.
    case asksForMore
    /// Does not subtract the credit of released batches from the ``CreditTotal``.
    case leavesCredit
    /// When Redis assigns a batch to this worker again, treats a push in flight as open.
    case resendsInFlight

    // Faults in the window.
    /// Forgets the outcomes of released batches.
    case remembersNothing
    /// Continues to send pushes of withdrawn shards.
    case ignoresWithdrawal
    /// Holds one batch twice.
    case holdsTwice
    /// Drops the batches of withdrawn shards instead of returning them to Redis.
    case givesNothingBack
}

extension HeldBatch {
    /// Applies the faults `beginsAgain` and `resendsInFlight` when Redis assigns the batch to this worker again.
    func injectRedeliveryFault() {
        if faults.has(.beginsAgain) {
            for position in positions.indices where positions[position] == .delivered {
                positions[position] = .open
                unreported -= 1
            }
            recount()
        }
        if faults.has(.resendsInFlight), let position = positions.firstIndex(of: .inFlight) {
            reopen(position)
        }
    }
}
