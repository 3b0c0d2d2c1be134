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

/// `pushfarm worker INDEX`, which only a coordinator starts. Touches neither Foundation nor the command line parser.
enum WorkerProcess {
    static let name = "worker"
    private static let levelVariable = "PUSHFARM_LOG_LEVEL"
    private static let formatVariable = "PUSHFARM_LOG_FORMAT"

    /// The variables by which a worker logs in the same way.
    static func environment(level: Logger.Level, format: LogFormat) -> [String] {
        ["\(levelVariable)=\(level.rawValue)", "\(formatVariable)=\(format.rawValue)"]
    }

    /// - Parameter arguments: those behind `worker`.
    static func run(_ arguments: [String]) -> Never {
        let level = getenv(levelVariable).flatMap { Logger.Level(rawValue: String(cString: $0)) }
        let format = getenv(formatVariable).flatMap { LogFormat(rawValue: String(cString: $0)) }
        FarmLog.bootstrap(level: level ?? .info, format: format ?? .text)
        let label = arguments.first.map { "worker-\($0)" } ?? "worker"
        ProcessLimits.apply()
        do {
            let status = try Loop.run { @Loop in
                guard isSocket(Worker.controlDescriptor) else {
                    throw CommandFailure.usage("workers are started by a coordinator")
                }
                return await Worker(log: Logger(label: label)).run()
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
