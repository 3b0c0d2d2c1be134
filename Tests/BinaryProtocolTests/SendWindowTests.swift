import APNs
import Testing

@testable import BinaryProtocol

@Suite struct SendWindowTests {
    private let start = ContinuousClock.now
    private static let quiet = Duration.seconds(1)

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    /// A window with `count` pushes of 100 bytes. The first `left` bytes have left the process. These bytes left at the time
    /// `start`, and arrived at the gateway at the same time.
    private func window(_ count: Int, left: UInt64? = nil, first: UInt32 = 1) -> SendWindow {
        var window = SendWindow(longest: 1000, longestBytes: 1 << 20, firstIdentifier: first)
        for ticket in 0..<count { window.add(UInt64(ticket), length: 100) }
        window.sent(upTo: left ?? UInt64(count) * 100, at: start)
        window.arrived(allBut: 0, at: start)
        return window
    }

    @Test func `a refusal accepts all earlier pushes and leaves all later ones unprocessed`() {
        let window = window(10)
        #expect(window.refused(4, at: at(400)) == .refused(safe: 3, delay: .milliseconds(400)))
    }

    @Test func `a shutdown reply names the last accepted push`() {
        let window = window(10)
        #expect(window.lastAccepted(4) == .lastAccepted(safe: 4))
        #expect(window.lastAccepted(10) == .lastAccepted(safe: 10))
        #expect(window.lastAccepted(11) == .foreign)
        #expect(window.lastAccepted(0) == .foreign, "nothing was sent before the first")
        #expect(window.lastAccepted(.max) == .foreign, "nothing was sent before the first")
    }

    @Test func `a shutdown reply that names an earlier push accepts nothing of the window`() {
        var window = window(3)
        #expect(window.popFirst() == 0)
        #expect(window.lastAccepted(1) == .lastAccepted(safe: 0))
    }

    @Test(arguments: [0, 11, UInt32.max]) func `an identifier that was never used proves nothing`(
        identifier: UInt32
    ) {
        #expect(window(10).refused(identifier, at: at(1)) == .foreign)
    }

    /// The byte counter's value for ten frames of 100 bytes.
    @Test(arguments: [0, 99, 100, 350, 400, 999, 1000] as [UInt64])
    func `an identifier of the window proves that its frame has left whatever the counter says`(
        left: UInt64
    ) {
        for identifier: UInt32 in 1...10 {
            let safe = Int(identifier) - 1
            let end = UInt64(identifier) * 100
            // The delay of the reply is known only for frames that have certainly left the process.
            let delay: Duration? = end <= left ? .milliseconds(1) : nil
            #expect(
                window(10, left: left).refused(identifier, at: at(1)) == .refused(safe: safe, delay: delay))
            #expect(window(10, left: left).lastAccepted(identifier) == .lastAccepted(safe: safe + 1))
            #expect(window(10, left: left).end(of: identifier) == end)
        }
        for identifier: UInt32 in [0, 11, .max] {
            #expect(window(10, left: left).refused(identifier, at: at(1)) == .foreign)
            #expect(window(10, left: left).lastAccepted(identifier) == .foreign)
            #expect(window(10, left: left).end(of: identifier) == nil)
        }
    }

    @Test func `a reply for a push that was taken as accepted reports how many were wrong`() {
        var window = window(10)
        for _ in 0..<6 { _ = window.popFirst() }
        #expect(window.refused(4, at: at(2000)) == .late(wronglySafe: 3), "the one that it blames among them")
        #expect(window.refused(6, at: at(2000)) == .late(wronglySafe: 1))
        #expect(window.lastAccepted(4) == .late(wronglySafe: 2), "the one that it names was accepted")
        #expect(window.lastAccepted(5) == .late(wronglySafe: 1))
        #expect(window.lastAccepted(6) == .lastAccepted(safe: 0))
    }

    @Test func `a quiet time proves the pushes that arrived before it began`() {
        var window = SendWindow(longest: 1000, longestBytes: 1 << 20)
        for ticket in 0..<4 { window.add(UInt64(ticket), length: 100) }
        window.sent(upTo: 250, at: at(0))
        window.arrived(allBut: 100, at: at(10))
        #expect(window.safe(after: Self.quiet, at: at(5000)) == 0, "the peer has only a part of what left")
        window.arrived(allBut: 0, at: at(5000))
        window.sent(upTo: 400, at: at(5100))
        window.arrived(allBut: 0, at: at(5200))
        #expect(window.nextSafe(after: Self.quiet) == at(6000))
        #expect(window.safe(after: Self.quiet, at: at(5999)) == 0)
        #expect(window.safe(after: Self.quiet, at: at(6000)) == 2, "the third has left by half")
        #expect(window.popFirst() == 0 && window.popFirst() == 1)
        #expect(window.safe(after: Self.quiet, at: at(6199)) == 0)
        #expect(window.safe(after: Self.quiet, at: at(6200)) == 2)
    }

    @Test func `bytes that the peer has read have arrived and the rest is in flight`() {
        var window = window(4, left: 0)
        let quiet = Duration.seconds(1)
        #expect((window.isUnderWay, window.isAllSent) == (false, false))
        window.sent(upTo: 200, at: at(10))
        window.sent(upTo: 400, at: at(20))
        #expect((window.isUnderWay, window.isAllSent) == (true, true))
        #expect(window.nextSafe(after: quiet) == nil)
        let steps = [(199, 30), (399, 40), (399, 50), (400, 60)].map { window.arrived(upTo: $0, at: at($1)) }
        #expect(steps == [false, true, false, true])
        #expect((window.isUnderWay, window.hasArrived) == (false, true))
        #expect(window.nextSafe(after: quiet) == at(1040))
        let safe = window.safe(after: quiet, at: at(1040))
        #expect(safe == 2)
    }

    @Test func `the quiet time restarts when the process was not reading`() {
        var window = window(3)
        window.restartQuiet(at: at(5000))
        #expect(window.safe(after: Self.quiet, at: at(5999)) == 0)
        #expect(window.safe(after: Self.quiet, at: at(6000)) == 3)
    }

    @Test func `bytes that leave within milliseconds count from the last of them`() {
        var window = SendWindow(longest: 1000, longestBytes: 1 << 20)
        for ticket in 0..<3 { window.add(UInt64(ticket), length: 100) }
        window.sent(upTo: 100, at: at(0))
        window.sent(upTo: 200, at: at(3))
        window.arrived(allBut: 0, at: at(3))
        window.sent(upTo: 300, at: at(6))
        window.arrived(allBut: 0, at: at(6))
        #expect(window.safe(after: Self.quiet, at: at(1002)) == 0)
        #expect(window.safe(after: Self.quiet, at: at(1003)) == 2)
    }

    @Test func `only frames that left completely can be accepted`() {
        var window = window(10, left: 250)
        #expect(window.whole == 2)
        window.sent(upTo: 770, at: at(900))
        #expect(window.whole == 7)
        _ = window.popFirst()
        #expect(window.whole == 6)
    }

    @Test func `the window is full by number or by bytes`() {
        var window = SendWindow(longest: 3, longestBytes: 1000)
        #expect(window.room == 3)
        window.add(1, length: 100)
        #expect(window.room == 2 && window.bytes == 100)
        window.add(2, length: 900)
        #expect(window.room == 0, "bytes")
        #expect(window.popFirst() == 1)
        #expect(window.room == 2 && window.bytes == 900)
        window.longest = 1
        #expect(window.room == 0)
    }

    @Test func `the window reports whether the peer has all bytes`() {
        var window = SendWindow(longest: 10, longestBytes: 1000)
        #expect(window.hasArrived == true)
        window.add(1, length: 100)
        #expect(window.hasArrived == false)
        window.sent(upTo: 100, at: at(0))
        #expect(window.hasArrived == false)
        window.arrived(allBut: 0, at: at(1))
        #expect(window.hasArrived == true)
    }

    @Test func `identifiers restart with 1 after the greatest number`() {
        var window = window(6, first: .max - 2)
        #expect(window.next == 4)
        #expect(window.refused(.max, at: at(1)) == .refused(safe: 2, delay: .milliseconds(1)))
        #expect(window.refused(1, at: at(1)) == .refused(safe: 3, delay: .milliseconds(1)))
        #expect(window.refused(3, at: at(1)) == .refused(safe: 5, delay: .milliseconds(1)))
        #expect(window.refused(4, at: at(1)) == .foreign)
        #expect(window.refused(0, at: at(1)) == .foreign)
        for _ in 0..<4 { _ = window.popFirst() }
        #expect(window.refused(2, at: at(1)) == .refused(safe: 0, delay: .milliseconds(1)))
        #expect(window.refused(.max, at: at(1)) == .late(wronglySafe: 2))
        #expect(window.lastAccepted(1) == .lastAccepted(safe: 0))
        #expect(window.refused(.max - 3, at: at(1)) == .foreign, "never used")
    }
}
