import APNs
import BinaryProtocol
import Testing

@Suite struct QuietTimeTests {
    @Test func `fast replies do not make the quiet time shorter than configured`() {
        var quiet = QuietTime(least: .seconds(1))
        for _ in 0..<300 { quiet.replied(after: .milliseconds(300)) }
        #expect(quiet.current == .seconds(1))
    }

    @Test func `the quiet time is one and a half times the time of replies`() {
        var quiet = QuietTime(least: .seconds(1))
        quiet.replied(after: .milliseconds(1200))
        #expect(quiet.current == .milliseconds(1800))
    }

    @Test func `one slow reply in a hundred does not count but two do`() {
        var quiet = QuietTime(least: .seconds(1))
        for _ in 0..<199 { quiet.replied(after: .milliseconds(800)) }
        quiet.replied(after: .seconds(3))
        #expect(quiet.current == .milliseconds(1200))
        for _ in 0..<4 { quiet.replied(after: .seconds(3)) }
        #expect(quiet.current == .milliseconds(4500))
    }

    @Test func `the quiet time has an upper bound and forgets old replies`() {
        var quiet = QuietTime(least: .seconds(1), longest: .seconds(5))
        for _ in 0..<256 { quiet.replied(after: .seconds(60)) }
        #expect(quiet.current == .seconds(5))
        for _ in 0..<256 { quiet.replied(after: .milliseconds(500)) }
        #expect(quiet.current == .seconds(1))
    }

    @Test func `a late reply doubles the quiet time after any number of replies in time`() {
        var quiet = QuietTime(least: .seconds(1), longest: .seconds(5))
        for _ in 0..<1000 { quiet.replied(after: .milliseconds(500)) }
        quiet.wasTooShort()
        #expect(quiet.current == .seconds(2))
        for _ in 0..<1000 { quiet.replied(after: .milliseconds(500)) }
        #expect(quiet.current == .seconds(2))
        quiet.wasTooShort()
        quiet.wasTooShort()
        #expect(quiet.current == .seconds(5))
    }
}
