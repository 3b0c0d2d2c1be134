import ArgumentParser
import PushModel

/// A duration on the command line: seconds, whole or decimal, or with units: `90s`, `15m`, `1h30m`.
struct TimeSpan: Equatable, Sendable, ExpressibleByArgument, CustomStringConvertible {
    let milliseconds: Int64

    init(seconds: Int64) { milliseconds = seconds * 1000 }

    init?(argument: String) {
        let isPlain = argument.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard let milliseconds = TimeText.duration(isPlain ? argument + "s" : argument) else { return nil }
        self.milliseconds = milliseconds
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
