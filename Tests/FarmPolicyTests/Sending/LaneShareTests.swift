import FarmPolicy
import PushModel
import RandomTesting
import Testing

struct LaneShareTests {
    @Test(arguments: [1, 5, 10, 33, 50, 90]) func `bulk gets its floor of the sent pushes and high the rest`(
        floor: Int
    ) {
        var random = SplitMix(seed: 3)
        var share = LaneShare(bulkFloor: floor)
        var sent = [0, 0]
        for _ in 0..<20_000 {
            guard let turn = share.next(highWaits: true, bulkWaits: true) else { continue }
            let count = min(turn.atMost, Int.random(in: 1...200, using: &random))
            share.sent(count, of: turn.lane, otherWaits: true)
            sent[Int(turn.lane.rawValue)] += count
        }
        let percent = Double(sent[1]) * 100 / Double(sent[0] + sent[1])
        #expect(abs(percent - Double(floor)) < 0.5)
    }

    @Test func `a lane alone gets every turn and no debt`() throws {
        var share = LaneShare()
        for _ in 0..<100 {
            #expect(share.next(highWaits: true, bulkWaits: false)?.lane == .high)
            share.sent(1000, of: .high, otherWaits: false)
        }
        #expect(!share.isBulkDue)
        #expect(share.next(highWaits: false, bulkWaits: true)?.lane == .bulk)
        #expect(share.next(highWaits: false, bulkWaits: false) == nil)
        #expect(share.next(highWaits: true, bulkWaits: true)?.lane == .high)
    }

    @Test func `bulk after a long block does not delay high for long`() {
        var share = LaneShare()
        for _ in 0..<1000 { share.sent(1000, of: .high, otherWaits: true) }
        var bulk = 0
        while let turn = share.next(highWaits: true, bulkWaits: true), turn.lane == .bulk {
            share.sent(turn.atMost, of: .bulk, otherWaits: true)
            bulk += turn.atMost
        }
        #expect(bulk < 100)
    }

    @Test func `without a floor bulk waits until high is empty`() {
        var share = LaneShare(bulkFloor: 0)
        share.sent(1_000_000, of: .high, otherWaits: true)
        #expect(share.next(highWaits: true, bulkWaits: true)?.lane == .high)
        #expect(share.next(highWaits: false, bulkWaits: true)?.lane == .bulk)
    }
}
