/// The bound of whole numbers that come from outside: from Redis, gateways, operators, files and the environment.
///
/// No larger number makes sense: as milliseconds it is a time after the year 10,000, as bytes more than 256 TB. Within the
/// bound the sum of 32,767 numbers fits an `Int64`, and so does a number times 32,767: code may add two times, or make
/// milliseconds of seconds, without a check.
@usableFromInline package enum ForeignNumber {
    @usableFromInline package static let limit: Int64 = 1 << 48

    /// Digits in a radix up to 36, a sign before them allowed.
    /// - Returns: nil without digits, with anything else in the text, and when the number does not fit.
    @usableFromInline package static func parse<Number: FixedWidthInteger>(
        _ text: some Sequence<UInt8>, radix: Int
    ) -> Number? {
        var number: Number = 0
        var isNegative = false
        var digits = 0
        for (index, byte) in text.enumerated() {
            if index == 0, byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") {
                isNegative = byte == UInt8(ascii: "-")
                continue
            }
            guard let digit = digit(byte), digit < radix else { return nil }
            let (shifted, isTooLarge) = number.multipliedReportingOverflow(
                by: Number(truncatingIfNeeded: radix))
            let (next, isBeyond) =
                isNegative
                ? shifted.subtractingReportingOverflow(Number(truncatingIfNeeded: digit))
                : shifted.addingReportingOverflow(Number(truncatingIfNeeded: digit))
            guard !isTooLarge, !isBeyond else { return nil }
            number = next
            digits += 1
        }
        return digits > 0 ? number : nil
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension FixedWidthInteger {
    /// A number from outside.
    /// - Returns: nil unless it is one within ``ForeignNumber/limit`` that fits the type.
    @inlinable package init?(foreign text: some StringProtocol, radix: Int = 10) {
        self.init(foreign: text.utf8, radix: radix)
    }

    /// A number from outside, as bytes of text.
    @inlinable package init?(foreign text: some Sequence<UInt8>, radix: Int = 10) {
        let number: Int64? = ForeignNumber.parse(text, radix: radix)
        guard let number, number.magnitude <= ForeignNumber.limit.magnitude else { return nil }
        self.init(exactly: number)
    }

    /// A number that is only compared, never added: any that fits the type.
    @inlinable package init?(unbounded text: some StringProtocol, radix: Int = 10) {
        let number: Self? = ForeignNumber.parse(text.utf8, radix: radix)
        guard let number else { return nil }
        self = number
    }

    /// The nearest number within ``ForeignNumber/limit`` that fits the type.
    @inlinable package init(foreign number: some BinaryInteger) {
        let limit = ForeignNumber.limit
        self.init(clamping: Swift.min(Swift.max(Int64(clamping: number), -limit), limit))
    }
}

/// Limits log lines about refused values: one for each place in ten minutes.
package struct RefusedValues: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package static let pause = Duration.seconds(600)
    /// Most places that are remembered; refusals at further places are not logged.
    package static let mostPlaces = 256

    private var reported: [String: Instant] = [:]

    package init() {}

    /// Records that a value was refused at a place: a key, a field, a channel.
    /// - Returns: whether to log it.
    package mutating func shouldReport(at place: String, now: Instant) -> Bool {
        if let last = reported[place], now < last + Self.pause { return false }
        if reported.count >= Self.mostPlaces, reported[place] == nil {
            reported = reported.filter { now < $0.value + Self.pause }
            guard reported.count < Self.mostPlaces else { return false }
        }
        reported[place] = now
        return true
    }
}
