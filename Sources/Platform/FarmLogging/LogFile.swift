import POSIX

/// The log file of this process and its children. The log file replaces standard error.
package enum LogFile {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Opens the log file and makes ``FarmLog/descriptor`` a descriptor of this file. Call this function again after log rotation
    /// has moved the file.
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

    /// Duplicates the present standard error, so that ``restoreStandardError(_:)`` can restore it. Children do not inherit the
    /// duplicate.
    package static func keepStandardError() -> Int32? {
        let copy = fcntl(Terminal.standardError, F_DUPFD_CLOEXEC, 3)
        return copy >= 0 ? copy : nil
    }

    /// Restores standard error from the duplicate.
    package static func restoreStandardError(_ former: Int32) { dup2(former, Terminal.standardError) }
}
