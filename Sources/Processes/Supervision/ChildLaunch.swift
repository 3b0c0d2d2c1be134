import Glibc

#if FAILPOINTS
    import Failpoints
#endif

/// How a child process is made.
package struct ChildLaunch {
    /// The program's file: this one's.
    package var program: String
    /// Kept open by the child, so that the host's lock outlives a coordinator that was killed.
    package var lock: Int32
    /// What a child inherits beside the usual, `NAME=value`, such as how to log.
    package var environment: [String]

    private let file: (device: UInt64, number: UInt64)?

    package init(program: String, lock: Int32, environment: [String]) {
        self.program = program
        file = Self.file(program)
        self.lock = lock
        self.environment = environment
    }

    /// What a child runs: this program, also after another one was installed in its place, which may speak another language.
    var currentProgram: String {
        guard let file, Self.file(program).map({ $0 == file }) != true else { return program }
        return access("/proc/self/exe", X_OK) == 0 ? "/proc/self/exe" : program
    }

    private static func file(_ path: String) -> (device: UInt64, number: UInt64)? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// What every child inherits: nothing that could hold a secret, nothing that makes systemd think it is the service.
    static let inherited: [String] = {
        var names = ["PATH", "LANG", "TZ", "NO_COLOR", "SWIFT_BACKTRACE"]
        #if DEBUG
            // What a sanitizer that is built in listens to.
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

/// What is going on in a child's place.
package enum ChildState: String {
    case starting, ready
    case backingOff = "backing-off"
    case failed, stopped
}
