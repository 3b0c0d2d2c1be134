import Testing

@testable import FarmPolicy

struct SendDeadlineTests {
    @Test func `a lease counts from before the call and ends a margin early`() {
        var clock = SendDeadline()
        #expect(!clock.mayStart(at: 0))
        clock.confirmed(from: 5000)
        #expect(clock.end == 13_000 && clock.mayStart(at: 12_999) && !clock.mayStart(at: 13_000))
        clock.confirmed(from: 4000)
        #expect(clock.end == 13_000, "an older answer takes nothing away")
    }
}
