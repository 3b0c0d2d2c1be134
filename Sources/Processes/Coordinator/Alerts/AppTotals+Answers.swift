import EventLoop
import FarmPolicy
import PushModel

extension AppTotals {
    /// What the gateway said so far, and how much of it were errors. That a device is gone is none.
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
