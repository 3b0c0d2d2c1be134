import BatchTesting
import FarmPolicy
import PushModel
import StoreProtocol
import Testing

@testable import Delivery
@testable import StoreProtocol

/// Checks that pushes of lane high are sent first even if a campaign has filled the window, and that lane bulk keeps its minimum
/// share.
@Suite struct DeliveryWindowLanesTests {
    /// A model of Redis with shard 0 only and batches in both lists. Redis replies to every call at once.
    private final class Lists {
        let window = DeliveryWindow(worker: "w", now: .now)
        var waiting: [Lane: Int] = [.high: 0, .bulk: 0]
        private(set) var sent: [Lane: Int] = [.high: 0, .bulk: 0]
        private(set) var calls: [Checkout.Lanes] = []
        /// The number of batches that were checked out while an older batch of their list had no credit.
        /// These batches may be sent before the older batch.
        private(set) var early = 0
        private var nextBatch = 0
        /// The bodies of batches, by the number of their pushes.
        private var bodies: [Int: [UInt8]] = [:]
        private var inFlight: [(batch: HeldBatch, position: Int)] = []

        init(limit: Int) {
            window.credit.limit = limit
            window.assign([0: FenceToken(Array("1:n:h".utf8))])
        }

        func signal() { window.shards.mayHaveBatches([0]) }

        /// Checks out batches until the window requests no more batches.
        func fill() {
            for _ in 0..<200 {
                let call = window.checkOut(wantsMore: true)
                if let call { respond(call) }
                if !replyToReports(), call == nil { return }
            }
        }

        /// - Returns: the number of pushes that were sent.
        @discardableResult
        func send(atMost most: Int) -> Int {
            var left = most
            while left > 0, let (batch, turn) = window.nextBatch(hasExclusiveTurn: false) {
                var count = 0
                while count < min(turn, left), let position = batch.next() {
                    inFlight.append((batch, position))
                    count += 1
                }
                window.sent(count, of: batch)
                sent[batch.lane]! += count
                left -= count
            }
            return most - left
        }

        /// Delivers `count` responses, the oldest pushes first.
        func deliver(_ count: Int) {
            for (batch, position) in inFlight.prefix(count) { window.delivered(batch, position) }
            inFlight.removeFirst(min(count, inFlight.count))
            window.reportDue()
            while replyToReports() {}
        }

        private func respond(_ call: Checkout) {
            var credit = call.credit
            var batches: [Checkout.Batch] = []
            if call.known == nil { calls.append(call.lanes) }
            let lanes: [Lane] =
                switch call.lanes {
                case .highFirst: [.high, .bulk]
                case .bulkOnly: [.bulk]
                case .highOnly: [.high]
                }
            for lane in lanes {
                while waiting[lane]! > 0, credit > 0, batches.count < call.maxBatches {
                    let count = min(256, waiting[lane]!)
                    waiting[lane]! -= count
                    if window.held.values.contains(where: { $0.lane == lane && $0.granted < $0.count }) {
                        early += 1
                    }
                    let granted = min(count, credit)
                    credit -= granted
                    nextBatch += 1
                    batches.append(
                        Checkout.Batch(
                            id: BatchID(Array("00.\(lane == .high ? "h" : "b").1.\(nextBatch)".utf8)),
                            delivery: 1, granted: granted, suspicion: nil,
                            map: Array(repeating: UInt8(ascii: "."), count: count),
                            body: body(count)))
                }
            }
            let isLeft = lanes.contains { waiting[$0]! > 0 }
            window.checkedOut(
                call,
                .success(
                    Checkout.Reply(
                        pauseReason: nil, nonEmptyShards: isLeft ? [0] : [], fenced: [], batches: batches)))
        }

        private func body(_ count: Int) -> [UInt8] {
            if let body = bodies[count] { return body }
            let body = Batches.body([.init(job: "job", count: count)])
            bodies[count] = body
            return body
        }

        private func replyToReports() -> Bool {
            var hasSome = false
            for action in window.takeActions() {
                guard case .report(let call, let report) = action else { continue }
                hasSome = true
                let open = max(0, report.expectedOpen ?? 0)
                window.reported(
                    call,
                    .success(
                        .taken(Report.State(open: open, granted: report.wanted, isDone: open == 0))))
            }
            return hasSome
        }
    }

    @Test func `a high push gets credit although a campaign has taken all allowed credit`() {
        let lists = Lists(limit: 1000)
        lists.waiting[.bulk] = 100_000
        lists.fill()
        lists.send(atMost: 1000)
        #expect(lists.window.creditInUse <= 1000 - 125)
        lists.waiting[.high] = 3
        lists.signal()
        lists.fill()
        #expect(lists.send(atMost: 1000) == 3)
        #expect(lists.sent[.high] == 3)
    }

    @Test func `a high push does not wait for held campaign batches without credit`() {
        let lists = Lists(limit: 200)
        lists.waiting[.bulk] = 256
        lists.fill()
        #expect(lists.window.held.values.contains { $0.granted < $0.count })
        lists.waiting[.high] = 5
        lists.signal()
        lists.fill()
        lists.send(atMost: 5)
        #expect(lists.sent[.high] == 5, "it goes before what was there first")
    }

    @Test func `without high pushes a campaign is not slowed by checks for them`() {
        let lists = Lists(limit: 1000)
        lists.waiting[.bulk] = 1_000_000
        for _ in 0..<200 {
            lists.fill()
            lists.send(atMost: 500)
            lists.deliver(500)
        }
        #expect(lists.calls.count { $0 == .highOnly } <= 2)
        #expect(lists.sent[.bulk]! > 50_000)
    }

    @Test(arguments: [0, 10, 40]) func `bulk gets its floor and little more during endless high pushes`(
        floor: Int
    ) {
        let lists = Lists(limit: 1000)
        lists.window.queues.share = LaneShare(bulkFloor: floor)
        lists.waiting = [.high: 10_000_000, .bulk: 10_000_000]
        for _ in 0..<500 {
            lists.signal()
            lists.fill()
            lists.send(atMost: 400)
            lists.deliver(400)
        }
        let all = Double(lists.sent[.high]! + lists.sent[.bulk]!)
        let percent = Double(lists.sent[.bulk]!) * 100 / all
        #expect(percent > Double(floor) - 1 && percent < Double(floor) + 8, "\(percent) percent")
        #expect(all > 150_000)
        #expect(lists.early == 0)
    }

    @Test func `a batch without credit is not overtaken by a younger batch of its lane`() {
        let lists = Lists(limit: 600)
        lists.waiting[.high] = 100_000
        for step in 0..<500 {
            if step % 3 == 0 { lists.waiting[.bulk]! += step % 7 }
            lists.signal()
            lists.fill()
            lists.send(atMost: 60)
            lists.deliver(60)
        }
        #expect(lists.early == 0 && lists.sent[.bulk]! > 400)
    }

    @Test func `the credit in use stays within the limit in all lanes`() {
        let lists = Lists(limit: 300)
        lists.waiting = [.high: 50_000, .bulk: 50_000]
        for step in 0..<500 {
            lists.signal()
            lists.fill()
            #expect(lists.window.creditInUse <= 300)
            lists.send(atMost: 37 + step % 90)
            lists.deliver(50)
        }
        #expect(lists.early == 0)
    }
}
