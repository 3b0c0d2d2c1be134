import EventLoop
import FarmConfiguration
import FarmLogging
import Intake
import Logging
import POSIX
import Supervision
import Worker

/// `pushfarm intake` and `pushfarm worker INDEX`, which only a coordinator starts. This code uses neither Foundation nor the
/// command line parser.
enum ChildRole: String {
    case intake, worker

    private static let levelVariable = "PUSHFARM_LOG_LEVEL"
    private static let formatVariable = "PUSHFARM_LOG_FORMAT"

    private static let fileVariable = "PUSHFARM_LOG_FILE"

    /// The environment variables that give a child the coordinator's log settings.
    static func environment(_ log: Configuration.Log) -> [String] {
        [
            "\(levelVariable)=\(log.level.rawValue)", "\(formatVariable)=\(log.format.rawValue)",
            "\(fileVariable)=\(log.file ?? "")",
        ]
    }

    /// A child inherits the coordinator's open log file. When the file was moved away, `reopen` opens a new file at the
    /// same path.
    private static var logging: ChildLogging {
        let file = getenv(fileVariable).map { String(cString: $0) } ?? ""
        return ChildLogging(
            setLevel: { text in Logger.Level(rawValue: text).map { FarmLog.level = $0 } },
            reopen: { if !file.isEmpty { try? LogFile.take(file) } })
    }

    /// - Parameter arguments: the arguments after the role.
    func run(_ arguments: [String]) -> Never {
        let level = getenv(Self.levelVariable).flatMap { Logger.Level(rawValue: String(cString: $0)) }
        let format = getenv(Self.formatVariable).flatMap { LogFormat(rawValue: String(cString: $0)) }
        // If this descriptor is not open, the process was not started by a coordinator, and its errors go to standard
        // error.
        if fcntl(ControlDescriptor.log, F_GETFD) >= 0 { FarmLog.descriptor = ControlDescriptor.log }
        FarmLog.bootstrap(level: level ?? .info, format: format ?? .text)
        let log = Logger(label: ([rawValue] + arguments.prefix(1)).joined(separator: "-"))
        ProcessLimits.apply()
        do {
            let status = try Loop.run { @Loop in
                guard isSocket(ControlDescriptor.child) else {
                    throw CommandFailure.usage(
                        "only a coordinator can start a process of this kind (\(rawValue))")
                }
                return switch self {
                case .intake: await IntakeProcess(log: log, logging: Self.logging).run()
                case .worker: await WorkerProcess(log: log, logging: Self.logging).run()
                }
            }
            exit(status)
        } catch {
            exit(ExitStatus(reporting: error).rawValue)
        }
    }

    private func isSocket(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}
