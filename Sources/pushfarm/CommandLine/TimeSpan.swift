import ArgumentParser
import PushModel

/// A duration on the command line: seconds, whole or decimal, or with units: `90s`, `15m`, `1h30m`.
struct TimeSpan: Equatable, Sendable, OptionValue, CustomStringConvertible {
    let milliseconds: Int64

    init(seconds: Int64) { milliseconds = seconds * 1000 }

    init(reading text: String) throws(OptionFault) {
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        do throws(TimeText.Fault) {
            milliseconds = try TimeText.readDuration(isPlain ? text + "s" : text)
        } catch {
            throw OptionFault(
                error.advice ?? "a duration is seconds, or has units, as 90s, 15m, 1h30m or 3d")
        }
    }

    var duration: Duration { .milliseconds(milliseconds) }

    /// Nil when it is not a whole number of seconds.
    var wholeSeconds: Int64? { milliseconds % 1000 == 0 ? milliseconds / 1000 : nil }

    var description: String { wholeSeconds.map { "\($0)s" } ?? "\(milliseconds)ms" }

    /// - Parameter range: seconds.
    func check(_ option: String, _ range: ClosedRange<Double>) throws {
        guard range.contains(Double(milliseconds) / 1000) else {
            func text(_ bound: Double) -> String {
                Int64(exactly: bound).map(String.init) ?? "\(bound)"
            }
            throw ValidationError(
                "\(option) is \(text(range.lowerBound)) to \(text(range.upperBound)) seconds.")
        }
    }
}
