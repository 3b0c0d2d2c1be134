import EventLoop
package import FarmConfiguration
package import Logging
package import Supervision

extension HostCoordinator {
    /// The options with which a coordinator is started.
    package struct Options {
        package var configuration: Configuration
        /// The URL of the farm's Redis, with the password.
        package var redisURL: String
        /// The trusted CA for the connection to Redis, in PEM; empty means the system's CAs.
        package var redisTrustedCA: [UInt8]
        /// The number of workers; the maximum number if `isAuto` is true.
        package var workers: Int
        /// Whether the number of workers follows the load.
        package var isAuto = false
        /// The number of processors of this machine.
        package var processors = 1
        /// The memory in bytes that this service may use: the machine's memory, or the service's limit; 0 if unknown.
        package var memory: UInt64 = 0
        /// Whether this process takes over from the coordinator that started it.
        package var isSuccessor = false
        /// The command-line arguments of this process.
        package var arguments: [String] = []
        /// The environment of the successor process in an upgrade, as `NAME=value`.
        package var variables: [String] = []
        /// The path of this program. The children run the same program.
        package var program: String
        /// The version of the program.
        package var version = ""
        /// The environment of the child processes, as `NAME=value`. It contains the log settings of this process.
        package var environment: [String]
        /// The service manager that gets reports of the state; nil if no service manager started this process.
        package var service: ServiceEnvironment?
        /// Reads the configuration again.
        package var reload: @Loop () throws -> Configuration
        /// Sets the minimum level of this process's log lines.
        package var setLogLevel: @Loop (Logger.Level) -> Void = { _ in }
        /// Reopens this process's log file, if it has one.
        package var reopenLogs: @Loop () -> Void = {}

        package init(
            configuration: Configuration, redisURL: String, redisTrustedCA: [UInt8] = [], workers: Int,
            isAuto: Bool = false, program: String, environment: [String],
            service: ServiceEnvironment? = nil, reload: @escaping @Loop () throws -> Configuration
        ) {
            self.configuration = configuration
            self.redisURL = redisURL
            self.redisTrustedCA = redisTrustedCA
            self.workers = workers
            self.isAuto = isAuto
            self.program = program
            self.environment = environment
            self.service = service
            self.reload = reload
        }
    }
}
