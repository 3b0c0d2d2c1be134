import FarmPolicy
import Testing

struct ShardQuarantineTests {
    private static let start = ContinuousClock().systemEpoch
    private let shard = ShardQuarantine.Shard(app: "demo", number: 3)
    private let other = ShardQuarantine.Shard(app: "demo", number: 4)

    private func at(_ seconds: Int) -> ContinuousClock.Instant { Self.start.advanced(by: .seconds(seconds)) }

    @Test func `the fifth crash within a minute quarantines only that shard`() {
        var quarantine = ShardQuarantine()
        for second in 0..<4 {
            let shards = second == 0 ? [shard, other] : [shard]
            let aside = quarantine.crashed(shards, at: at(second * 10))
            #expect(aside.isEmpty)
        }
        let aside = quarantine.crashed([shard, other], at: at(40))
        #expect(aside.map(\.shard) == [shard] && aside.map(\.duration) == [.seconds(1)])
        #expect(aside.map(\.crashes) == [5])
        #expect(quarantine.holds(shard, at: at(40)) && !quarantine.holds(other, at: at(40)))
        #expect(quarantine.held(at: at(40)).map(\.shard) == [shard])
        #expect(!quarantine.holds(shard, at: at(41)) && quarantine.held(at: at(41)).isEmpty)
    }

    @Test func `crashes more than a minute apart do not add up`() {
        var quarantine = ShardQuarantine()
        for number in 0..<20 {
            let aside = quarantine.crashed([shard], at: at(number * 16))
            #expect(aside.isEmpty)
        }
    }

    @Test func `each further crash doubles the quarantine up to a minute and a calm time resets it`() {
        var quarantine = ShardQuarantine()
        var now = 0
        for _ in 0..<4 { _ = quarantine.crashed([shard], at: at(now)) }
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60, 60] {
            let aside = quarantine.crashed([shard], at: at(now))
            #expect(aside.map(\.duration) == [.seconds(seconds)])
            now += seconds
        }
        let afterwards = quarantine.crashed([shard], at: at(now + 130))
        #expect(afterwards.isEmpty)
    }

    @Test func `an operator can end the quarantine`() {
        var quarantine = ShardQuarantine()
        for _ in 0..<5 { _ = quarantine.crashed([shard], at: at(0)) }
        quarantine.release()
        #expect(!quarantine.holds(shard, at: at(0)))
        let next = quarantine.crashed([shard], at: at(1))
        #expect(next.isEmpty)
    }

    @Test func `kills count for a minute and are dropped when they are explained`() {
        var kills = RecentKills()
        let counts = [0, 30, 59, 61, 200].map { kills.add(at: at($0)) }
        #expect(counts == [1, 2, 3, 3, 1])
        kills.forgetAll()
        let next = kills.add(at: at(201))
        #expect(next == 1)
    }
}
