import CheckedNumbers
import Testing

struct WholeNumberTests {
    @Test(arguments: [
        ("0", 0), ("-0", 0), ("+7", 7), ("281474976710656", 1 << 48), ("-281474976710656", -(1 << 48)),
        ("007", 7),
    ])
    func `reads digits within the limit as a number`(text: String, number: Int) {
        #expect(Int(foreign: text) == number)
        #expect(Int(foreign: Array(text.utf8)) == number)
    }

    @Test(arguments: [
        "", "-", "+", " 1", "1 ", "1.0", "1e3", "٣", "0x10", "--1", "281474976710657", "-281474976710657",
        "9223372036854775807", "-9223372036854775808", "18446744073709551616",
        String(repeating: "9", count: 400), "nan", "inf",
    ])
    func `refuses any other text`(text: String) {
        #expect(Int(foreign: text) == nil)
        #expect(Int64(foreign: text[...]) == nil)
    }

    @Test func `refuses a number that does not fit the type`() {
        #expect(UInt16(foreign: "65535") == 65_535 && UInt16(foreign: "65536") == nil)
        #expect(UInt64(foreign: "-1") == nil && Int32(foreign: "4294967296") == nil)
        #expect(Int64(foreign: "ff", radix: 16) == 255 && Int64(foreign: "fg", radix: 16) == nil)
        #expect(Int64(foreign: "-1000000000000", radix: 16) == -(1 << 48))
        #expect(Int64(foreign: "1000000000001", radix: 16) == nil)
    }

    @Test func `a number that is only compared may be as large as its type`() {
        #expect(UInt64(unbounded: "18446744073709551615") == .max)
        #expect(UInt64(unbounded: "18446744073709551616") == nil)
        #expect(Int64(unbounded: "-9223372036854775808") == .min && UInt64(unbounded: "-1") == nil)
        #expect(UInt64(unbounded: "ffffffffffffffff", radix: 16) == .max)
    }

    @Test func `a number from a program is bounded`() {
        #expect(Int(foreign: Int64.max) == 1 << 48 && Int(foreign: Int64.min) == -(1 << 48))
        #expect(Int64(foreign: UInt64.max) == 1 << 48 && Int64(foreign: 12) == 12)
        #expect(UInt16(foreign: Int64.max) == .max && UInt64(foreign: Int64.min) == 0)
    }
}

struct SaturationTests {
    @Test(arguments: [
        (1e308, Int.max), (-1e308, .min), (.infinity, .max), (-.infinity, .min), (.nan, 0), (1.9, 1),
        (-1.9, -1), (9.3e18, .max), (0x1p63, .max), (-0x1p63, .min),
    ])
    func `a fraction is rounded to the nearest whole number`(number: Double, whole: Int) {
        #expect(Int(clamping: number) == whole)
    }

    @Test func `unsigned numbers stop at 0`() {
        #expect(
            UInt64(clamping: -5.0) == 0 && UInt32(clamping: 5e9) == .max && UInt64(clamping: 1e30) == .max)
    }

    @Test func `sums and products stop at the bounds of the type`() {
        #expect(Int.max.adding(saturating: 1) == .max && Int.min.adding(saturating: -1) == .min)
        #expect(Int.max.multiplied(saturating: -2) == .min && Int.min.multiplied(saturating: -2) == .max)
        #expect(UInt64.max.adding(saturating: 1) == .max && UInt64.max.multiplied(saturating: 2) == .max)
    }
}

struct CheckedDurationTests {
    @Test(arguments: [
        (0.5, Duration.milliseconds(500)), (-0.25, .milliseconds(-250)), (.nan, .zero), (1e-12, .zero),
        (.infinity, .seconds(Int64(1) << 48)), (-1e300, .seconds(Int64(-1) << 48)),
    ])
    func `converts any number of seconds to a time`(seconds: Double, time: Duration) {
        #expect(Duration(clampingSeconds: seconds) == time)
    }

    @Test func `converts any time to milliseconds`() {
        #expect(Duration.milliseconds(1500).clampedMilliseconds == 1500)
        #expect(Duration.seconds(Int64.max).clampedMilliseconds == .max)
        #expect(Duration.seconds(Int64.min).clampedMilliseconds == .min)
    }
}

struct CheckedCollectionTests {
    @Test func `an invalid index has no element`() {
        let letters = ["a", "b"]
        #expect(letters[checked: 1] == "b" && letters[checked: 2] == nil && letters[checked: -1] == nil)
        #expect(letters[1...][checked: 0] == nil && letters[1...][checked: 1] == "b")
    }

    @Test func `a negative count is 0`() {
        #expect(Array([1, 2].prefix(clamping: -4)) == [] && Array([1, 2].prefix(clamping: 9)) == [1, 2])
    }
}

struct RefusedValueLogTests {
    private let start = ContinuousClock.now

    @Test func `a source is reported once in ten minutes`() {
        var values = RefusedValueLog()
        let moments: [(String, Duration)] = [
            ("a", .zero), ("a", .zero), ("b", .zero), ("a", .seconds(599)), ("a", .seconds(600)),
        ]
        let reported = moments.map { source, time in values.shouldReport(at: source, now: start + time) }
        #expect(reported == [true, false, true, false, true])
    }

    @Test func `the number of remembered sources is bounded`() {
        var values = RefusedValueLog()
        let reported = (0..<10_000).count { values.shouldReport(at: "\($0)", now: start) }
        #expect(reported == RefusedValueLog.mostSources)
        let isLaterOneReported = values.shouldReport(at: "new", now: start + RefusedValueLog.pause)
        #expect(isLaterOneReported)
    }
}
