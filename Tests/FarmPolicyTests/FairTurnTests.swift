import FarmPolicy
import RandomTesting
import Testing

struct FairTurnTests {
    @Test func `equals go round`() {
        var turn = FairTurn(apps: 3)
        let order = (0..<7).map { _ in
            let app = turn.next { _ in true }
            turn.charge(10, to: app ?? 0)
            return app
        }
        #expect(order == [0, 1, 2, 0, 1, 2, 0])
    }

    @Test func `nobody waits, nobody goes`() {
        var none = FairTurn(apps: 0)
        var idle = FairTurn(apps: 3)
        #expect(none.next { _ in true } == nil)
        #expect(idle.next { _ in false } == nil)
        #expect(none.divide(10) { _ in true } == [])
        #expect(idle.divide(10) { _ in false } == [0, 0, 0])
    }

    @Test func `large batches get no more than small ones`() {
        var random = SplitMix(seed: 4)
        var turn = FairTurn(apps: 4)
        var given = [0, 0, 0, 0]
        for _ in 0..<20_000 {
            guard let app = turn.next(isWaiting: { _ in true }) else { continue }
            let size = app == 0 ? 256 : Int.random(in: 1...16, using: &random)
            turn.charge(size, to: app)
            given[app] += size
        }
        let least = given.min() ?? 0
        let most = given.max() ?? 0
        #expect(most - least <= 512)
    }

    @Test func `an app that was away starts level`() {
        var turn = FairTurn(apps: 2)
        for _ in 0..<1000 {
            let app = turn.next { $0 == 0 }
            turn.charge(100, to: app ?? 1)
        }
        var order: [Int?] = []
        for _ in 0..<10 {
            let app = turn.next { _ in true }
            turn.charge(100, to: app ?? 0)
            order.append(app)
        }
        #expect(order.count { $0 == 1 } <= 6)
    }

    @Test func `credit is divided evenly and the rest goes round`() {
        var turn = FairTurn(apps: 3)
        var sums = [0, 0, 0]
        for _ in 0..<30 {
            let shares = turn.divide(10) { _ in true }
            #expect(shares.reduce(0, +) == 10 && shares.allSatisfy { (3...4).contains($0) })
            for app in 0..<3 { sums[app] += shares[app] }
        }
        #expect(sums == [100, 100, 100])
        #expect(turn.divide(7) { $0 != 1 }.sorted() == [0, 3, 4])
        #expect(turn.divide(2) { _ in true }.reduce(0, +) == 2)
    }
}
