/// Why a process exited without an order, as far as that says anything about its work.
package enum EndCause: Hashable, Sendable {
    /// By its own doing: a fault, an exit status that says so, or it hung and was ended for that.
    case crash
    /// By SIGKILL from outside: an operator, or a kernel that is out of memory.
    case kill
    /// In order: it finished, it was asked to, or it lost its leases.
    case orderly
}
