@testable import Delivery

/// A deliberate fault in the window's logic, which the simulation must notice.
///
/// Two changes of the logic are not mutants, because the farm works correctly with them. With the first change, the window uses a
/// credit that Redis has forgotten. This is correct because the next report to the restored Redis contains the old credit, so
/// Redis knows the credit again. With the second change, the window drops outcomes of a batch that has become stale. The
/// accounting stays correct, because the new owner of the batch reports an outcome. `LostOwnershipTests` checks the duplicates.
struct DeliveryWindowMutant: Sendable, CustomStringConvertible {
    let description: String
    private let fault: InjectedDeliveryFault

    private init(_ description: String, _ fault: InjectedDeliveryFault) {
        (self.description, self.fault) = (description, fault)
    }

    func make(at now: ContinuousClock.Instant) -> DeliveryWindow {
        DeliveryWindow(worker: "w", now: now, fault: fault)
    }

    static let all = [
        DeliveryWindowMutant("sends pushes of a batch that another worker owns", .sendsStale),
        DeliveryWindowMutant("sends before it has compared its map with a restored Redis", .sendsUncompared),
        DeliveryWindowMutant("takes more credit than it was given", .grantsMore),
        DeliveryWindowMutant("does not repeat reports that Redis has forgotten", .forgetsToRepeat),
        DeliveryWindowMutant("sends pushes again that it knows from an earlier assignment", .restoresNothing),
        DeliveryWindowMutant("releases a stale batch with pushes in flight", .releasesInFlight),
        DeliveryWindowMutant("sends pushes of a batch that it is returning", .sendsReturning),
        DeliveryWindowMutant("starts from the beginning when a batch is assigned again", .beginsAgain),
        DeliveryWindowMutant("keeps a batch that Redis has ended", .neverEnds),
        DeliveryWindowMutant("asks for more credit than there is room for", .asksForMore),
        DeliveryWindowMutant("leaves the exposure of batches that it released", .leavesCredit),
        DeliveryWindowMutant("treats pushes in flight as open", .resendsInFlight),
        DeliveryWindowMutant("forgets finished batches", .remembersNothing),
        DeliveryWindowMutant("continues to send pushes of withdrawn shards", .ignoresWithdrawal),
        DeliveryWindowMutant("holds a batch twice", .holdsTwice),
        DeliveryWindowMutant("returns no batch", .givesNothingBack),
    ]
}
