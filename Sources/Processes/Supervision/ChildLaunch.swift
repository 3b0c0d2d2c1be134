import Glibc

#if FAILPOINTS
    import Failpoints
#endif

/// The settings for starting a child process.
package struct ChildLaunch {
    /// The path of the program to run, which is this process's own program.
    package var program: String
    /// The descriptor of the host's lock. The child keeps the descriptor open, so that the lock outlives a killed
    /// coordinator.
    package var lock: Int32
    /// Additional environment variables of the child, as `NAME=value`, such as settings of the log.
    package var environment: [String]

    private let file: (device: UInt64, number: UInt64)?

    package init(program: String, lock: Int32, environment: [String]) {
        self.program = program
        file = Self.file(program)
        self.lock = lock
        self.environment = environment
    }

    /// The program that a child runs: the same version as this process, even if another version has been installed at `program`.
    /// A child of another version may use another protocol than its coordinator.
    var currentProgram: String {
        guard let file, Self.file(program).map({ $0 == file }) != true else { return program }
        return access("/proc/self/exe", X_OK) == 0 ? "/proc/self/exe" : program
    }

    private static func file(_ path: String) -> (device: UInt64, number: UInt64)? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// The variables that every child inherits. The list contains no variable with a secret. It also contains no variable for the
    /// service manager, because a child that has these variables could report to systemd in the name of the service.
    static let inherited: [String] = {
        var names = ["PATH", "LANG", "TZ", "NO_COLOR", "SWIFT_BACKTRACE", "PUSHFARM_TIME_FACTOR"]
        #if DEBUG
            // The variables that configure a built-in sanitizer.
            names += ["ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"]
        #endif
        let variables = names.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
        #if FAILPOINTS
            return variables + Failpoint.environment
        #else
            return variables
        #endif
    }()
}

/// The state of a child's slot.
package enum ChildState: String {
    case starting, ready
    case backingOff = "backing-off"
    case failed, stopped
}
