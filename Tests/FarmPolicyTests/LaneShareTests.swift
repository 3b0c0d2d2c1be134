import FarmPolicy
import PushModel
import Testing

struct LaneShareTests {
    @Test func `bulk gets one turn in eight when both wait`() {
        var share = LaneShare()
        let lanes = (0..<24).map { _ in share.next(highWaits: true, bulkWaits: true) }
        let expected: [Lane?] = Array(repeating: .high, count: 7) + [.bulk]
        #expect(lanes == expected + expected + expected)
    }

    @Test func `a lane alone gets every turn`() {
        var share = LaneShare()
        for _ in 0..<20 {
            let lanes = [
                share.next(highWaits: true, bulkWaits: false), share.next(highWaits: false, bulkWaits: true),
                share.next(highWaits: false, bulkWaits: false),
            ]
            #expect(lanes == [.high, .bulk, nil])
        }
    }

    @Test(arguments: [1, 2, 3, 7, 8, 64, 2000]) func `credit is divided seven to one, small credits too`(
        credit: Int
    ) {
        var share = LaneShare()
        var bulk = 0
        for _ in 0..<800 {
            let parts = share.divide(credit, highWaits: true, bulkWaits: true)
            #expect(parts.high + parts.bulk == credit && parts.high >= 0 && parts.bulk >= 0)
            bulk += parts.bulk
        }
        #expect(bulk == 100 * credit)
    }

    @Test func `a lane alone gets all credit`() {
        var share = LaneShare()
        #expect(share.divide(10, highWaits: true, bulkWaits: false) == (10, 0))
        #expect(share.divide(10, highWaits: false, bulkWaits: true) == (0, 10))
        #expect(share.divide(10, highWaits: false, bulkWaits: false) == (0, 0))
    }
}
