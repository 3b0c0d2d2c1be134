import EventLoop
import FarmPolicy
import PushModel

extension AppTotals {
    /// The gateway's responses so far, and how many were errors. An unregistered token is no error.
    var answers: (all: UInt64, errors: UInt64) {
        var (all, errors): (UInt64, UInt64) = (0, 0)
        for (outcome, count) in outcomes {
            switch outcome.kind {
            case .delivered: all += count
            case .failed where FarmReason(rawValue: outcome.reason) == .suppressed: continue
            case .failed:
                all += count
                if !["Unregistered", "ExpiredToken"].contains(outcome.reason) { errors += count }
            case .expired, .cancelled: continue
            }
        }
        for (cause, count) in retries where cause != .coolDown {
            all += count
            errors += count
        }
        return (all, errors)
    }
}
