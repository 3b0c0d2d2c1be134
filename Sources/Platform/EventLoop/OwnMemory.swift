import CLibuv

/// The memory of this process.
package enum OwnMemory {
    /// Keeps it from core dumps, also from those that a program takes over a pipe, and from other processes of the same
    /// user: only root may still look, or attach a debugger. Does nothing where the system cannot.
    package static func hide() {
        #if os(Linux)
            _ = linux_set_dumpable(0)
        #endif
    }
}
