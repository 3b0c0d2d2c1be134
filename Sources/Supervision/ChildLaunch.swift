#if FAILPOINTS
    import Failpoints
#endif

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How a child process is made.
package struct ChildLaunch {
    /// The program's file: this one's.
    package var program: String
    /// Kept open by the child, so that the host's lock outlives a coordinator that was killed.
    package var lock: Int32
    /// What a child inherits beside the usual, `NAME=value`, such as how to log.
    package var environment: [String]

    package init(program: String, lock: Int32, environment: [String]) {
        self.program = program
        self.lock = lock
        self.environment = environment
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
