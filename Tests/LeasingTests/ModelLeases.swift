import StoreProtocol

@testable import StoreProtocol

/// A model of `lease.lua` and `heartbeat.lua` without Redis. `ModelLeasesTests` compares the model with the scripts.
struct ModelLeases {
    struct Owner: Equatable {
        var epoch: Int
        var nonce = ""
        var host = ""
        var token: FenceToken { FenceToken(Array("\(epoch):\(nonce):\(host)".utf8)) }
    }

    private(set) var owners: [LeaseID: Owner] = [:]
    private(set) var ends: [String: Int] = [:]
    private var lines: [String: (end: Int, heartbeat: Heartbeat)] = [:]
    /// A deliberate fault: if true, a release compares the nonce only.
    var releasesByNonce = false

    func token(of lease: LeaseID) -> FenceToken? {
        guard let owner = owners[lease], !owner.nonce.isEmpty else { return nil }
        return owner.token
    }

    func isHeld(_ lease: LeaseID, at now: Int) -> Bool {
        owners[lease].map { !$0.nonce.isEmpty && ends[$0.nonce, default: 0] > now } ?? false
    }

    mutating func endLease(of nonce: String) { ends[nonce] = nil }

    mutating func acquire(_ call: AcquireLeases, at now: Int) -> AcquireLeases.Reply {
        let lease = call.lifetime.wholeMilliseconds
        var states: [AcquireLeases.LeaseState] = []
        var mine = 0
        var bequeathed: Set<String> = []
        for (index, lease) in (call.leases + call.others).enumerated() {
            let owner = owners[lease] ?? Owner(epoch: 0)
            let gone = call.predecessor
            let isHeir = !gone.isEmpty && (owner.nonce == gone || owner.nonce.hasPrefix(gone + "."))
            if owner.nonce == call.nonce {
                mine += 1
                states.append(.ours(owner.token))
                continue
            }
            var left = 0
            if !owner.nonce.isEmpty, !isHeir {
                left = ends[owner.nonce, default: 0] - now
                if left <= 0 { ends[owner.nonce] = nil }
            }
            if left > 0 {
                states.append(.taken(for: .milliseconds(left)))
            } else if index >= call.leases.count, !isHeir {
                states.append(.free)
            } else {
                if isHeir { bequeathed.insert(owner.nonce) }
                owners[lease] = Owner(epoch: owner.epoch + 1, nonce: call.nonce, host: call.host)
                mine += 1
                states.append(.ours(owners[lease]!.token))
            }
        }
        bequeathed.subtract(owners.values.map(\.nonce))
        for nonce in bequeathed { ends[nonce] = nil }
        if mine > 0 { ends[call.nonce] = now + lease }
        return AcquireLeases.Reply(leaseEnds: Int64(now + lease), states: states)
    }

    mutating func renew(_ call: RenewLeases, at now: Int) -> [Bool] {
        let kept = call.leases.map { owners[$0]?.nonce == call.nonce }
        if kept.contains(true) { ends[call.nonce] = now + call.lifetime.wholeMilliseconds }
        return kept
    }

    mutating func release(_ call: ReleaseLeases) -> [LeaseID] {
        var freed: [LeaseID] = []
        for (lease, owner) in owners {
            if let tokens = call.tokens {
                guard let token = tokens[lease] else { continue }
                guard releasesByNonce ? owner.nonce == call.nonce : owner.token == token else { continue }
            } else if owner.nonce != call.nonce || owner.nonce.isEmpty {
                continue
            }
            owners[lease] = Owner(epoch: owner.epoch)
            freed.append(lease)
        }
        if call.tokens == nil { ends[call.nonce] = nil }
        return freed
    }

    /// - Returns: the members of the farm; nil if the host's name belongs to another coordinator.
    mutating func heartbeat(
        _ line: Heartbeat, predecessor: String, lifetime: Int, at now: Int
    ) -> [Heartbeat.Member]? {
        if let old = lines[line.host], old.heartbeat.nonce != line.nonce, old.heartbeat.nonce != predecessor,
            old.end > now
        {
            return nil
        }
        lines[line.host] = lifetime == 0 ? nil : (now + lifetime, line)
        return lines.values.filter { $0.end > now }.map {
            Heartbeat.Member(
                name: $0.heartbeat.host, nonce: $0.heartbeat.nonce, capacity: $0.heartbeat.capacity,
                apps: $0.heartbeat.apps)
        }
    }
}
