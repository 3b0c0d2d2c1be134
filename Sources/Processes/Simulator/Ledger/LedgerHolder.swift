import EventLoop

/// Gives the ledger, which cannot be copied, a place in an optional.
@Loop final class LedgerHolder {
    var ledger: Ledger

    init(_ path: String) throws(SimulatorError) {
        ledger = try Ledger(path: path)
    }
}
