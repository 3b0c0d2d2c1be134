@testable import Leasing

/// A deliberate fault in the ownership of shards, which the simulation must notice.
struct LeaseMutant: Sendable, CustomStringConvertible {
    enum Fault: Equatable {
        case leases(LeaseFault)
        // These faults are outside of `HeldLeases`.
        case releasesByNonce, countsFromTheReply, endsLate, ignoresLock
    }

    let description: String
    let fault: Fault
    /// The seed that first revealed the fault.
    let seed: UInt64

    private init(_ description: String, _ fault: Fault, seed: UInt64) {
        (self.description, self.fault, self.seed) = (description, fault, seed)
    }

    private init(_ description: String, _ fault: LeaseFault, seed: UInt64) {
        self.init(description, .leases(fault), seed: seed)
    }

    var leaseFault: LeaseFault? {
        if case .leases(let fault) = fault { fault } else { nil }
    }

    static let all = [
        LeaseMutant("asks for what it is giving back", LeaseFault.asksForUnreleased, seed: 1),
        LeaseMutant("takes what it has lost for its own", LeaseFault.keepsLost, seed: 14),
        LeaseMutant("serves what is not reclaimed", LeaseFault.servesUnreclaimed, seed: 1),
        LeaseMutant("serves what it hands over", LeaseFault.servesLeaving, seed: 0),
        LeaseMutant("gives back what its workers still have", LeaseFault.releasesAtOnce, seed: 6),
        LeaseMutant("gives back what a worker released and has again", LeaseFault.releasesServed, seed: 26),
        LeaseMutant("hands nothing over", LeaseFault.handsNothingOver, seed: 0),
        LeaseMutant("keeps a shard after all and does not say so", LeaseFault.changesSilently, seed: 368),
        LeaseMutant("forgets what it is to give back", LeaseFault.forgetsToRelease, seed: 0),
        LeaseMutant("takes whatever is free", LeaseFault.takesAll, seed: 0),
        LeaseMutant(
            "gives back by the nonce: a late call takes what was acquired since", Fault.releasesByNonce,
            seed: 492),
        LeaseMutant("counts a lease from Redis's reply", Fault.countsFromTheReply, seed: 4),
        LeaseMutant("sends to the lease's very end", Fault.endsLate, seed: 16),
        LeaseMutant("takes over before its predecessor's workers have ended", Fault.ignoresLock, seed: 36),
    ]
}
