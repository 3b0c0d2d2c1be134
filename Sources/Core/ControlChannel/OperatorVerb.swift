/// What a coordinator can be told to do.
package enum OperatorVerb: String, CaseIterable, Sendable {
    /// Look at what is stored in Redis (pauses, rates, quarantines, pins), and follow it.
    case look
    /// `N`, `+N`, `-N`, `auto` or `default`.
    case scale
    /// Nothing, or the number of a worker.
    case quiet, resume, drain, stop, restart
    case upgrade, reload
    /// `APP NN`.
    case takeover
    case kill, purge, dump
    case logLevel = "log-level"
    case status
}
