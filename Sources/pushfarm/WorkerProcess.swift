import FarmLogging
import Logging
import Worker

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// `pushfarm worker …`, which only a coordinator starts.
enum WorkerProcess {
    static let name = "worker"

    static func run(arguments: [String]) -> Never {
        Terminal.write("pushfarm: the worker is not built in yet\n", to: Terminal.standardError)
        exit(ExitStatus.failed.rawValue)
    }
}
