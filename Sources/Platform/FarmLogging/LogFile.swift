import POSIX

/// The log file of this process and its children; it replaces standard error.
package enum LogFile {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Opens the file, again after it was moved away, and points ``FarmLog/descriptor`` to it.
    package static func take(_ path: String) throws(Failure) {
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
        guard file >= 0 else {
            throw Failure(description: "cannot open \(path): \(SystemFailure.last)")
        }
        defer { close(file) }
        guard dup2(file, FarmLog.descriptor) >= 0 else {
            throw Failure(description: "cannot log to \(path): \(SystemFailure.last)")
        }
    }

    /// Duplicates the present standard error for ``leave(for:)``; children do not inherit it.
    package static func former() -> Int32? {
        let copy = fcntl(Terminal.standardError, F_DUPFD_CLOEXEC, 3)
        return copy >= 0 ? copy : nil
    }

    /// Points standard error to the duplicate again.
    package static func leave(for former: Int32) { dup2(former, Terminal.standardError) }
}
