/// Faults that tests put into the window: the simulation must notice each of them.
package enum DeliveryFault: Sendable {
    // In a held batch.
    /// Sends of a batch that another worker owns.
    case sendsStale
    /// Sends before it has compared its map with a Redis that went back in time.
    case sendsUncompared
    /// Takes one position of credit more than Redis granted.
    case grantsMore
    /// Does not repeat a report that Redis has forgotten.
    case forgetsToRepeat
    /// Sends again what it knew of a batch that this worker held before.
    case restoresNothing
    /// Releases a stale batch with pushes in flight.
    case releasesInFlight
    /// Sends of a batch that it is giving back.
    case sendsGoingBack
    /// Forgets outcomes when a batch is assigned to this worker once more.
    case beginsAgain
    /// Keeps a batch that Redis has ended.
    case neverEnds
    /// Asks for more credit than there is room for.
    case asksForMore
    /// Leaves the exposure of released batches in the tally.
    case leavesExposure
    /// Treats pushes in flight as open.
    case resendsInFlight

    // In the window.
    /// Remembers nothing of released batches.
    case remembersNothing
    /// Goes on sending of withdrawn shards.
    case ignoresWithdrawal
    /// Holds a batch twice.
    case holdsTwice
    /// Drops the batches of withdrawn shards, and gives none back.
    case givesNothingBack
}

extension HeldBatch {
    /// Redis has assigned the batch to this worker once more.
    func injectRedeliveryFault() {
        if faults.has(.beginsAgain) {
            for position in positions.indices where positions[position] == .delivered {
                positions[position] = .open
                unreported -= 1
            }
            recount()
        }
        if faults.has(.resendsInFlight), let position = positions.firstIndex(of: .inFlight) {
            giveBack(position)
        }
    }
}
