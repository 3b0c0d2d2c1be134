import ArgumentParser
import PushModel

/// A duration on the command line, in whole or decimal seconds or with units: `90s`, `15m`, `1h30m`.
struct DurationOption: Equatable, Sendable, OptionValue, CustomStringConvertible {
    let milliseconds: Int64

    init(seconds: Int64) { milliseconds = seconds * 1000 }

    init(reading text: String) throws(OptionFault) {
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        do throws(TimeText.Fault) {
            milliseconds = try TimeText.readDuration(isPlain ? text + "s" : text)
        } catch {
            throw OptionFault(
                error.advice ?? "a duration is in seconds, or has units, such as 90s, 15m, 1h30m or 3d")
        }
    }

    var duration: Duration { .milliseconds(milliseconds) }

    /// The seconds, or nil when the duration is not a whole number of seconds.
    var wholeSeconds: Int64? { milliseconds % 1000 == 0 ? milliseconds / 1000 : nil }

    var description: String { wholeSeconds.map { "\($0)s" } ?? "\(milliseconds)ms" }

    /// - Parameter range: the allowed range in seconds.
    func check(_ option: String, _ range: ClosedRange<Double>) throws {
        guard range.contains(Double(milliseconds) / 1000) else {
            func text(_ bound: Double) -> String {
                Int64(exactly: bound).map(String.init) ?? "\(bound)"
            }
            throw ValidationError(
                "\(option) must be from \(text(range.lowerBound)) to \(text(range.upperBound)) seconds.")
        }
    }
}

/// A time on the command line: a duration from now (`90s`, `2h`, `3d`), Unix seconds, or `2026-05-01T10:00:00Z`.
enum Moment: Equatable, Sendable, OptionValue {
    /// Milliseconds from now. The option decides whether the time is before or after now.
    case span(Int64)
    /// Unix milliseconds.
    case at(Int64)

    init(reading text: String) throws(OptionFault) {
        let digits = text.first == "-" || text.first == "+" ? text.dropFirst() : text[...]
        if !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            self = .at(try Self.seconds(text) * 1000)
            return
        }
        do throws(TimeText.Fault) {
            if text.dropFirst(4).first == "-" {
                self = .at(try TimeText.readMoment(text))
            } else {
                self = .span(try TimeText.readDuration(text))
            }
        } catch {
            throw OptionFault(
                error.advice ?? "use 2h or 3d, Unix seconds, or a time such as 2026-05-01T10:00:00Z")
        }
    }

    private static func seconds(_ text: String) throws(OptionFault) -> Int64 {
        guard text.first != "-" else { throw OptionFault("Unix seconds are not negative") }
        guard let number = Int64(foreign: text), number / 1000 <= JobLimits.lastSecond else {
            throw OptionFault("the number is too large for a time in Unix seconds")
        }
        guard number <= JobLimits.lastSecond else {
            throw OptionFault("the number looks like milliseconds; use Unix seconds")
        }
        return number
    }

    /// The time in Unix milliseconds. A duration counts back from now.
    func past(now: Int64) -> Int64 {
        switch self {
        case .span(let milliseconds): max(0, now - milliseconds)
        case .at(let milliseconds): milliseconds
        }
    }

    /// The time in Unix milliseconds. A duration counts forward from now.
    func future(now: Int64) -> Int64 {
        switch self {
        case .span(let milliseconds): now + milliseconds
        case .at(let milliseconds): milliseconds
        }
    }
}
