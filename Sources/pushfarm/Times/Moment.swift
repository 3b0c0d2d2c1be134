import ArgumentParser
import PushModel

/// A moment on the command line: a duration from now (`90s`, `2h`, `3d`), Unix seconds, or `2026-05-01T10:00:00Z`.
enum Moment: Equatable, Sendable, ExpressibleByArgument {
    /// Milliseconds before or after now, whichever the option means.
    case span(Int64)
    /// Unix milliseconds.
    case at(Int64)

    init?(argument: String) {
        if let seconds = Int64(foreign: argument), seconds >= 0, seconds <= JobLimits.lastSecond {
            self = .at(seconds * 1000)
        } else if let milliseconds = TimeText.duration(argument) {
            self = .span(milliseconds)
        } else if let milliseconds = TimeText.moment(argument) {
            self = .at(milliseconds)
        } else {
            return nil
        }
    }

    /// Unix milliseconds; a duration counts back from now.
    func past(now: Int64) -> Int64 {
        switch self {
        case .span(let milliseconds): max(0, now - milliseconds)
        case .at(let milliseconds): milliseconds
        }
    }

    /// Unix milliseconds; a duration counts from now on.
    func future(now: Int64) -> Int64 {
        switch self {
        case .span(let milliseconds): now + milliseconds
        case .at(let milliseconds): milliseconds
        }
    }
}
