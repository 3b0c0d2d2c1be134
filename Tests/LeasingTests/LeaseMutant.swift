@testable import Leasing

/// A deliberate fault in the code that decides who owns a shard. The simulation must notice the fault.
struct LeaseMutant: Sendable, CustomStringConvertible {
    enum Fault: Equatable {
        case leases(InjectedLeaseFault)
        // These faults are in the simulated hosts, workers and Redis, not in `LeaseStateMachine`.
        case releasesByNonce, countsFromTheReply, endsLate, ignoresLock
    }

    let description: String
    let fault: Fault
    /// The seed that first revealed the fault.
    let seed: UInt64

    private init(_ description: String, _ fault: Fault, seed: UInt64) {
        (self.description, self.fault, self.seed) = (description, fault, seed)
    }

    private init(_ description: String, _ fault: InjectedLeaseFault, seed: UInt64) {
        self.init(description, .leases(fault), seed: seed)
    }

    var leaseFault: InjectedLeaseFault? {
        if case .leases(let fault) = fault { fault } else { nil }
    }

    static let all = [
        LeaseMutant("requests shards that it is giving back", InjectedLeaseFault.asksForUnreleased, seed: 1),
        LeaseMutant("keeps shards that it has lost", InjectedLeaseFault.keepsLost, seed: 14),
        LeaseMutant("serves shards that are not reclaimed", InjectedLeaseFault.servesUnreclaimed, seed: 1),
        LeaseMutant("serves shards that it hands over", InjectedLeaseFault.servesLeaving, seed: 0),
        LeaseMutant(
            "gives back shards that its workers still have", InjectedLeaseFault.releasesAtOnce, seed: 6),
        LeaseMutant(
            "gives back shards that a worker released and has again", InjectedLeaseFault.releasesServed,
            seed: 26),
        LeaseMutant("hands over no shard", InjectedLeaseFault.handsNothingOver, seed: 0),
        LeaseMutant(
            "keeps a shard after a request and does not report it", InjectedLeaseFault.changesSilently,
            seed: 368),
        LeaseMutant("forgets shards that it must give back", InjectedLeaseFault.forgetsToRelease, seed: 0),
        LeaseMutant("takes all free shards", InjectedLeaseFault.takesAll, seed: 0),
        LeaseMutant(
            "gives back by nonce, so a late call releases shards that were acquired since",
            Fault.releasesByNonce,
            seed: 492),
        LeaseMutant("counts a lease from Redis's reply", Fault.countsFromTheReply, seed: 4),
        LeaseMutant("sends until the end of the lease", Fault.endsLate, seed: 16),
        LeaseMutant("takes over before its predecessor's workers have ended", Fault.ignoresLock, seed: 36),
    ]
}
