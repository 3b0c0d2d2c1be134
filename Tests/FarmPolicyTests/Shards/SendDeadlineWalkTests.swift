import RandomTesting
import Testing

@testable import FarmPolicy

/// Two hosts and a Redis share one simulated time. Calls take a random time, replies are lost, and hosts are suspended.
struct SendDeadlineWalkTests {
    private struct Host {
        var clock = SendDeadline()
        /// The offset of the host's clock from the simulated time.
        let offset: UInt64
        var nextRenewal: UInt64 = 0
        /// The host does nothing before this time.
        var suspendedUntil: UInt64 = 0
        /// The call in flight: the times of its start, of its execution and of its reply (nil if the reply is lost), whether
        /// Redis has executed the call, and whether the host got the lease.
        var call: (made: UInt64, taken: UInt64, repliedAt: UInt64?, isTaken: Bool, isOurs: Bool)?
    }

    private struct Walk {
        var random: SplitMix
        var now: UInt64 = 0
        var owner: Int?
        var until: UInt64 = 0
        var hosts: [Host]
        var starts = 0
        var changes = 0

        init(seed: UInt64) {
            var random = SplitMix(seed: seed)
            hosts = (0..<2).map { _ in Host(offset: UInt64.random(in: 0...1_000_000, using: &random)) }
            self.random = random
        }

        mutating func step() throws {
            now += UInt64.random(in: 1...400, using: &random)
            for index in hosts.indices { try act(index) }
        }

        private mutating func act(_ index: Int) throws {
            takeCall(index)
            guard hosts[index].suspendedUntil <= now else { return }
            if random.chance(200) {
                hosts[index].suspendedUntil = now + UInt64.random(in: 1...30_000, using: &random)
            }
            if let call = hosts[index].call {
                // A call without a reply fails at its timeout.
                if let repliedAt = call.repliedAt, repliedAt <= now, call.isTaken {
                    if call.isOurs { hosts[index].clock.confirmed(from: call.made + hosts[index].offset) }
                    hosts[index].call = nil
                } else if call.repliedAt == nil, call.made + 5000 < now {
                    hosts[index].call = nil
                }
            } else if hosts[index].nextRenewal <= now {
                let taken = now + UInt64.random(in: 0...4000, using: &random)
                let repliedAt = random.chance(8) ? nil : taken + UInt64.random(in: 0...4000, using: &random)
                hosts[index].call = (now, taken, repliedAt, false, false)
                hosts[index].nextRenewal = now + UInt64(SendDeadline.renewInterval / .milliseconds(1))
            }
            guard hosts[index].clock.mayStart(at: now + hosts[index].offset) else { return }
            starts += 1
            try #require(owner == index && now < until, "host \(index) starts pushes for what is not its own")
        }

        /// Redis renews the lease for its owner, and gives an expired lease to the host that requests it.
        private mutating func takeCall(_ index: Int) {
            guard let call = hosts[index].call, !call.isTaken, call.taken <= now else { return }
            if owner != index, now >= until {
                owner = index
                changes += 1
            }
            hosts[index].call?.isTaken = true
            hosts[index].call?.isOurs = owner == index
            if owner == index {
                until = max(until, call.taken + UInt64(SendDeadline.lease / .milliseconds(1)))
            }
        }
    }

    @Test func `no push starts for a shard that may belong to another host`() throws {
        var (starts, changes) = (0, 0)
        for seed in 0..<2000 {
            var walk = Walk(seed: UInt64(seed))
            for _ in 0..<300 { try walk.step() }
            starts += walk.starts
            changes += walk.changes
        }
        // The walk covers the interesting cases: both hosts gain and lose the lease, and most of the time one of them sends.
        #expect(starts > 100_000 && changes > 2200)
    }
}
