import EventLoop
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

/// `pushfarm worker`, which only a coordinator starts. Touches neither Foundation nor the command line parser.
enum WorkerProcess {
    static let name = "worker"

    static func run() -> Never {
        var status = stat()
        guard fstat(Worker.controlDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else {
            Terminal.write("pushfarm: workers are started by a coordinator\n", to: Terminal.standardError)
            exit(ExitStatus.usage.rawValue)
        }
        let level = getenv("PUSHFARM_LOG_LEVEL").flatMap { Logger.Level(rawValue: String(cString: $0)) }
        let format = getenv("PUSHFARM_LOG_FORMAT").flatMap { LogFormat(rawValue: String(cString: $0)) }
        FarmLog.bootstrap(level: level ?? .info, format: format ?? .text)
        do {
            exit(try Loop.run { @Loop in await Worker(log: Logger(label: "worker")).run() })
        } catch {
            exit(ExitStatus.failed.rawValue)
        }
    }
}
