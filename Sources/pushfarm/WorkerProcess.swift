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
        let level = getenv("PUSHFARM_LOG_LEVEL").flatMap { Logger.Level(rawValue: String(cString: $0)) }
        let format = getenv("PUSHFARM_LOG_FORMAT").flatMap { LogFormat(rawValue: String(cString: $0)) }
        FarmLog.bootstrap(level: level ?? .info, format: format ?? .text)
        do {
            let status = try Loop.run { @Loop in
                guard isSocket(Worker.controlDescriptor) else {
                    throw CommandFailure.usage("workers are started by a coordinator")
                }
                return await Worker(log: Logger(label: "worker")).run()
            }
            exit(status)
        } catch {
            exit(ExitStatus(reporting: error).rawValue)
        }
    }

    private static func isSocket(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}
