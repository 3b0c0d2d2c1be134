@testable import Delivery

/// A deliberate fault in the window's logic, which the simulation must notice.
///
/// Two changes of the logic are not mutants, because they are no faults.
/// The first change uses a credit that Redis has forgotten: a report that requests the map from a restored Redis contains the old
/// credit and so restores it. The second change drops outcomes after a batch becomes stale, which keeps the accounting correct,
/// because the new owner of the batch reports an outcome. `LostOwnershipTests` checks the duplicates.
struct WindowMutant: Sendable, CustomStringConvertible {
    let description: String
    private let fault: InjectedDeliveryFault

    private init(_ description: String, _ fault: InjectedDeliveryFault) {
        (self.description, self.fault) = (description, fault)
    }

    func make(at now: ContinuousClock.Instant) -> Window { Window(worker: "w", now: now, fault: fault) }

    static let all = [
        WindowMutant("sends pushes of a batch that another worker owns", .sendsStale),
        WindowMutant("sends before it has compared its map with a restored Redis", .sendsUncompared),
        WindowMutant("takes more credit than it was given", .grantsMore),
        WindowMutant("does not repeat reports that Redis has forgotten", .forgetsToRepeat),
        WindowMutant("sends pushes again that it knows from an earlier assignment", .restoresNothing),
        WindowMutant("releases a stale batch with pushes in flight", .releasesInFlight),
        WindowMutant("sends pushes of a batch that it is returning", .sendsReturning),
        WindowMutant("starts from the beginning when a batch is assigned again", .beginsAgain),
        WindowMutant("keeps a batch that Redis has ended", .neverEnds),
        WindowMutant("asks for more credit than there is room for", .asksForMore),
        WindowMutant("leaves the exposure of batches that it released", .leavesExposure),
        WindowMutant("treats pushes in flight as open", .resendsInFlight),
        WindowMutant("forgets finished batches", .remembersNothing),
        WindowMutant("continues to send pushes of withdrawn shards", .ignoresWithdrawal),
        WindowMutant("holds a batch twice", .holdsTwice),
        WindowMutant("returns no batch", .givesNothingBack),
    ]
}
