import BatchTesting
import Testing

@testable import Delivery
@testable import StoreProtocol

/// Checks that a suspect batch of a lost worker is sent alone: no other batch is in flight meanwhile.
@Suite struct SuspectWindowTests {
    private let window = DeliveryWindow(worker: "w", now: .now)

    private func accept(_ name: String, _ count: Int, granted: Int, suspicion: Suspicion? = nil) {
        window.accept(
            Checkout.Batch(
                id: BatchID(Array("00.h.\(name)".utf8)), delivery: 1, granted: granted, suspicion: suspicion,
                map: Array(repeating: UInt8(ascii: "."), count: count),
                body: Batches.body([Batches.Part(count: count)])))
    }

    /// Sends every push that the window allows. Returns the names of the batches.
    private func send(hasExclusiveTurn: Bool? = nil) -> [String] {
        var sent: [String] = []
        while let (batch, _) = window.nextBatch(
            hasExclusiveTurn: hasExclusiveTurn ?? window.isClearForSuspect),
            let position = batch.next()
        {
            sent.append("\(batch.id) \(position)")
        }
        return sent
    }

    private func reports() -> [(DeliveryWindow.Call, Report)] {
        window.takeActions().compactMap {
            if case .report(let call, let report) = $0 { (call, report) } else { nil }
        }
    }

    private func deliver(_ name: String, _ positions: Range<Int>) throws {
        let batch = try #require(window.held[BatchID(Array("00.h.\(name)".utf8))])
        for position in positions { window.delivered(batch, position) }
    }

    /// Redis accepts all reports and grants the requested credit. Returns the requests by batch.
    private func respond() -> [String: Int] {
        var wanted: [String: Int] = [:]
        for (call, report) in reports() {
            wanted["\(report.batch)"] = report.wanted
            let open = report.expectedOpen ?? 0
            window.reported(
                call, .success(.taken(.init(open: open, granted: report.wanted, isDone: open == 0))))
        }
        return wanted
    }

    @Test func `a suspect batch is sent in groups after all others and then like any other`() throws {
        window.assign([0: FenceToken(Array("1:n:here".utf8))])
        window.credit.limit = 600
        accept("c", 6, granted: 0, suspicion: Suspicion(suspect: 4, group: 2, sendsAlone: true))
        accept("a", 3, granted: 3)
        #expect(window.suspect != nil && !window.isClearForSuspect)
        #expect(send() == ["00.h.a 0", "00.h.a 1", "00.h.a 2"])
        try deliver("a", 0..<2)
        #expect(send() == [] && !window.isClearForSuspect, "one of the others is in flight")
        try deliver("a", 2..<3)
        #expect(respond() == ["00.h.a": 3] && window.isClearForSuspect)
        #expect(send() == [] && respond() == ["00.h.c": 2])
        #expect(send(hasExclusiveTurn: false) == [], "another app's pushes are in flight")
        #expect(send() == ["00.h.c 0", "00.h.c 1"])
        try deliver("c", 0..<1)
        #expect(reports().isEmpty, "the group is not through")
        try deliver("c", 1..<2)
        #expect(respond() == ["00.h.c": 4])
        #expect(send() == ["00.h.c 2", "00.h.c 3"])
        try deliver("c", 2..<4)
        #expect(respond() == ["00.h.c": 6] && window.suspect == nil)
        #expect(send() == ["00.h.c 4", "00.h.c 5"])
    }

    @Test func `an app that yields to the suspect batch of another app requests no credit`() throws {
        window.assign([0: FenceToken(Array("1:n:here".utf8))])
        window.credit.limit = 600
        accept("a", 6, granted: 2)
        window.yieldsToSuspect = true
        #expect(send().count == 2)
        try deliver("a", 0..<2)
        window.reportDue()
        #expect(respond() == ["00.h.a": 2])
        window.yieldsToSuspect = false
        #expect(window.askForCredit(of: .high) && respond() == ["00.h.a": 6])
    }

    @Test func `a failed request for credit is settled before a suspect batch has its turn`() throws {
        window.assign([0: FenceToken(Array("1:n:here".utf8))])
        window.credit.limit = 600
        accept("a", 6, granted: 2)
        #expect(send().count == 2)
        try deliver("a", 0..<2)
        window.yieldsToSuspect = true
        window.reportDue()
        #expect(respond() == ["00.h.a": 2] && window.isClearForSuspect)
        window.yieldsToSuspect = false
        #expect(window.askForCredit(of: .high))
        for (call, _) in reports() { window.reported(call, .failure(.redis(.notConnected("lost")))) }
        accept("c", 2, granted: 0, suspicion: Suspicion(suspect: 2, group: 1, sendsAlone: true))
        window.yieldsToSuspect = true
        #expect(!window.isClearForSuspect, "what was asked for may have been granted")
        window.reportDue()
        #expect(respond() == ["00.h.a": 2])
        #expect(window.isClearForSuspect && send() == [])
        #expect(respond() == ["00.h.c": 1] && send() == ["00.h.c 0"])
    }

    @Test
    func `a credit with a lost reply is used before a suspect batch has its turn`()
        throws
    {
        window.assign([0: FenceToken(Array("1:n:here".utf8))])
        window.credit.limit = 600
        accept("a", 6, granted: 2)
        #expect(send().count == 2)
        #expect(window.askForCredit(of: .high))
        for (call, _) in reports() { window.reported(call, .failure(.redis(.notConnected("lost")))) }
        accept("c", 2, granted: 0, suspicion: Suspicion(suspect: 2, group: 1, sendsAlone: true))
        window.yieldsToSuspect = true
        window.reportDue()
        let (call, report) = try #require(reports().first)
        #expect(report.wanted == 2 && !window.isClearForSuspect)
        window.reported(call, .success(.taken(.init(open: 6, granted: 6, isDone: false))))
        #expect(send() == ["00.h.a 2", "00.h.a 3", "00.h.a 4", "00.h.a 5"])
        try deliver("a", 0..<6)
        #expect(respond() == ["00.h.a": 6] && window.isClearForSuspect)
    }

    @Test func `a suspect batch with credit is sent before a batch that arrived later`() throws {
        let (here, token) = (0, FenceToken(Array("1:n:here".utf8)))
        window.assign([here: token])
        window.credit.limit = 600
        accept("c", 2, granted: 0, suspicion: Suspicion(suspect: 2, group: 2, sendsAlone: true))
        #expect(send() == [] && respond() == ["00.h.c": 2])
        #expect(send(hasExclusiveTurn: true) == ["00.h.c 0", "00.h.c 1"] && window.hasSuspectInFlight)
        // The batch's shard is withdrawn while the batch has pushes in flight. Then another batch gets its turn.
        window.assign([1: token])
        window.accept(
            Checkout.Batch(
                id: BatchID(Array("01.h.d".utf8)), delivery: 1, granted: 0,
                suspicion: Suspicion(suspect: 2, group: 2, sendsAlone: true), map: Array("..".utf8),
                body: Batches.body([Batches.Part(count: 2)])))
        #expect(
            window.suspect?.id.description == "01.h.d" && window.hasSuspectInFlight
                && !window.isClearForSuspect)
        window.assign([here: token, 1: token])
        #expect(window.suspect?.id.description == "00.h.c" && window.isClearForSuspect)
        try deliver("c", 0..<2)
        _ = respond()
        #expect(
            !window.hasSuspectInFlight && window.suspect?.id.description == "01.h.d"
                && window.isClearForSuspect)
        #expect(send() == [] && respond() == ["01.h.d": 2])
        #expect(send() == ["01.h.d 0", "01.h.d 1"])
    }
}
