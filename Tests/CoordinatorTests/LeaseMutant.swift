import FarmPolicy
import StoreProtocol

@testable import Coordinator

/// A fault put into the ownership of shards on purpose: the simulation must notice it.
struct LeaseMutant: Sendable, CustomStringConvertible {
    /// One that is not in ``Holdings``.
    enum Fault {
        case releasesByNonce, countsFromTheAnswer, endsLate, ignoresLock
    }

    let description: String
    let fault: Fault?
    let type: Holdings.Type
    /// Where it was noticed first.
    let seed: UInt64

    private init(_ description: String, _ type: Holdings.Type, seed: UInt64) {
        (self.description, fault, self.type, self.seed) = (description, nil, type, seed)
    }

    private init(_ description: String, _ fault: Fault, seed: UInt64) {
        (self.description, self.fault, type, self.seed) = (description, fault, Holdings.self, seed)
    }

    static let all = [
        LeaseMutant("asks for what it is giving back", AsksForGivenBack.self, seed: 1),
        LeaseMutant("takes what it has lost for its own", KeepsLost.self, seed: 14),
        LeaseMutant("serves what is not swept", ServesUnswept.self, seed: 1),
        LeaseMutant("serves what it hands over", ServesLeaving.self, seed: 0),
        LeaseMutant("gives back what its workers still have", GivesBackAtOnce.self, seed: 6),
        LeaseMutant("gives back what a worker let go of and has again", GivesBackServed.self, seed: 26),
        LeaseMutant("hands nothing over", HandsNothingOver.self, seed: 0),
        LeaseMutant("changes its mind without a word", SilentlyBack.self, seed: 368),
        LeaseMutant("forgets what it is to give back", ForgetsToGiveBack.self, seed: 0),
        LeaseMutant("takes whatever is free", TakesAll.self, seed: 0),
        LeaseMutant(
            "gives back by the nonce: a late call takes what was acquired since", .releasesByNonce, seed: 492),
        LeaseMutant("counts a lease from Redis's answer", .countsFromTheAnswer, seed: 4),
        LeaseMutant("sends to the lease's very end", .endsLate, seed: 16),
        LeaseMutant("takes over before its predecessor's workers have ended", .ignoresLock, seed: 36),
    ]
}

private final class AsksForGivenBack: Holdings {
    override func mayAsk(for field: LeaseField) -> Bool { true }
}

private final class KeepsLost: Holdings {
    override func renewed(_ call: RenewLeases, _ kept: [Bool]) -> Int {
        super.renewed(call, kept.map { _ in true })
    }
}

private final class ServesUnswept: Holdings {
    override var served: [Int: FenceToken] { tokens.filter { !handOver.isLeaving($0.key) } }
}

private final class ServesLeaving: Holdings {
    override var served: [Int: FenceToken] { tokens.filter { !unswept.contains($0.key) } }
}

private final class GivesBackAtOnce: Holdings {
    override func handOverOthers(at now: Instant) {
        super.handOverOthers(at: now)
        emptied(handOver.leaving)
    }
}

private final class GivesBackServed: Holdings {
    override func emptied(_ shards: some Sequence<Int>) -> Bool {
        _ = handOver.begin(Array(shards), isAll: true, at: .now)
        return super.emptied(shards)
    }
}

private final class HandsNothingOver: Holdings {
    override func handOverOthers(at now: Instant) {}
}

private final class SilentlyBack: Holdings {
    override func handOverOthers(at now: Instant) {
        let before = handOver.leaving
        super.handOverOthers(at: now)
        if !before.isSubset(of: handOver.leaving) { _ = takeChange() }
    }
}

private final class ForgetsToGiveBack: Holdings {
    override func gaveBack(_ call: ReleaseLeases) {}
    override func nextStep(at now: Instant) -> Step? {
        let step = super.nextStep(at: now)
        if case .giveBack = step { return super.nextStep(at: now) }
        return step
    }
}

private final class TakesAll: Holdings {
    override func acquisition(at now: Instant) -> AcquireLeases {
        var call = super.acquisition(at: now)
        call.fields += call.others
        call.others = []
        return call
    }
}
