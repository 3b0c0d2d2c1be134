/// The limit of whole numbers from outside: from Redis, gateways, operators, files and the environment.
///
/// Larger numbers make no sense: in milliseconds, they are times after the year 10,000; in bytes, they are sizes above 256 TB.
/// The sum of 32,767 numbers within the limit fits an `Int64`, and the product of one such number and 32,767 also fits. So code
/// may add two points in time, or convert seconds to milliseconds, without a check for overflow.
@usableFromInline package enum WholeNumber {
    @usableFromInline package static let limit: Int64 = 1 << 48

    /// Reads digits in a radix up to 36, with an optional sign.
    /// - Returns: nil without digits, with other characters, or when the number does not fit the type.
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
    /// Reads a number that comes from outside.
    /// - Returns: nil unless the text is a number within ``WholeNumber/limit`` that fits the type.
    @inlinable package init?(foreign text: some StringProtocol, radix: Int = 10) {
        self.init(foreign: text.utf8, radix: radix)
    }

    /// Reads a number that comes from outside, from bytes of text.
    @inlinable package init?(foreign text: some Sequence<UInt8>, radix: Int = 10) {
        let number: Int64? = WholeNumber.parse(text, radix: radix)
        guard let number, number.magnitude <= WholeNumber.limit.magnitude else { return nil }
        self.init(exactly: number)
    }

    /// Reads a number of any size that fits the type. Use this initializer only for numbers that are compared and never added.
    @inlinable package init?(unbounded text: some StringProtocol, radix: Int = 10) {
        let number: Self? = WholeNumber.parse(text.utf8, radix: radix)
        guard let number else { return nil }
        self = number
    }

    /// Converts a number from outside. A number out of range becomes the nearest value that is within ``WholeNumber/limit`` and
    /// fits the type.
    @inlinable package init(foreign number: some BinaryInteger) {
        let limit = WholeNumber.limit
        self.init(clamping: Swift.min(Swift.max(Int64(clamping: number), -limit), limit))
    }
}

/// Limits the log lines about refused values to one line for each source in ten minutes.
package struct RefusedValueLog: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package static let pause = Duration.seconds(600)
    /// The maximum number of sources with a log line in the last ten minutes. Refusals at further sources are not logged.
    package static let mostSources = 256

    private var reported: [String: Instant] = [:]

    package init() {}

    /// Records that a value was refused at a source, such as a key, a field or a channel.
    /// - Returns: whether to log the refusal.
    package mutating func shouldReport(at source: String, now: Instant) -> Bool {
        if let last = reported[source], now < last + Self.pause { return false }
        if reported.count >= Self.mostSources, reported[source] == nil {
            reported = reported.filter { now < $0.value + Self.pause }
            guard reported.count < Self.mostSources else { return false }
        }
        reported[source] = now
        return true
    }
}
