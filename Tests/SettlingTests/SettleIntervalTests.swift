import Testing

@testable import Settling

@Suite struct SettleIntervalTests {
    private var pace = SettleInterval()

    @Test mutating func `few reports are settled soon`() {
        for _ in 0..<100 {
            pace.settled()
            #expect(pace.pause == SettleInterval.shortest)
            pace.idled()
        }
    }

    @Test mutating func `pauses grow under load up to a bound`() {
        let pauses = (0..<6).map { _ in
            pace.settled()
            return pace.pause
        }
        #expect(pauses == [5, 10, 20, 40, 40, 40].map { .milliseconds($0) })
    }

    @Test mutating func `idle time makes pauses short again`() {
        for _ in 0..<9 { pace.settled() }
        pace.idled()
        #expect(pace.pause == SettleInterval.shortest)
        pace.settled()
        #expect(pace.pause == SettleInterval.shortest)
    }
}
