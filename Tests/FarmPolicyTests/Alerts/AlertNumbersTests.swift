import Testing

@testable import FarmPolicy

struct AlertNumbersTests {
    private static let start = ContinuousClock.now

    @Test func `the share of errors covers the last minute`() {
        var share = ErrorShare()
        #expect(share.add(responses: 0, errors: 0, at: Self.start) == nil)
        #expect(share.add(responses: 49, errors: 49, at: Self.start + .seconds(1)) == nil)
        #expect(share.add(responses: 100, errors: 50, at: Self.start + .seconds(2)) == 50)
        // The arguments are totals. The last minute has 10 errors among 200 responses, because the errors of the first two
        // seconds are too old to count.
        for second in 3..<62 {
            _ = share.add(responses: 100, errors: 50, at: Self.start + .seconds(second))
        }
        #expect(share.add(responses: 300, errors: 60, at: Self.start + .seconds(62)) == 5)
    }

    @Test func `three exits in a minute are a crash loop`() {
        var loop = CrashLoop()
        for second in [0, 50] {
            loop.ended(at: Self.start + .seconds(second))
            #expect(!loop.isOn(at: Self.start + .seconds(second)))
        }
        loop.ended(at: Self.start + .seconds(60))
        #expect(loop.isOn(at: Self.start + .seconds(60)))
        #expect(!loop.isOn(at: Self.start + .seconds(61)))
        // The exit at second 0 is more than a minute old, so only two exits count. The next exit makes three again.
        loop.ended(at: Self.start + .seconds(100))
        #expect(loop.isOn(at: Self.start + .seconds(100)))
        #expect(!loop.isOn(at: Self.start + .seconds(111)))
    }
}
