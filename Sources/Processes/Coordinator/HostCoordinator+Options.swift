import EventLoop
package import FarmConfiguration
package import Logging
package import Supervision

extension HostCoordinator {
    /// What it is started with.
    package struct Options {
        package var configuration: Configuration
        /// The farm's Redis: a URL with its password, and the CA to trust there in PEM, empty for the system's.
        package var redisURL: String
        package var redisAuthority: [UInt8]
        /// As many as there may be.
        package var workers: Int
        /// How many of them there are follows the load.
        package var isAuto = false
        /// Of this machine.
        package var processors = 1
        /// Of this machine, or what this service may take of it, in bytes; 0: it is not known.
        package var memory: UInt64 = 0
        /// It takes over from the coordinator that has started it.
        package var succeeds = false
        /// The process's own.
        package var arguments: [String] = []
        /// Of the process that follows in an upgrade, `NAME=value`.
        package var variables: [String] = []
        /// The program that workers are: this one.
        package var program: String
        /// Of the program.
        package var version = ""
        /// Variables by which a worker logs as we do, `NAME=value`.
        package var environment: [String]
        /// Reports the state to the service manager that started it; nil: there is none.
        package var service: ServiceEnvironment?
        /// Reads the configuration again.
        package var reload: @Loop () throws -> Configuration
        /// Changes from which level on this process logs.
        package var setLogLevel: @Loop (Logger.Level) -> Void = { _ in }
        /// Opens the file again that this process logs to, if it does.
        package var reopenLogs: @Loop () -> Void = {}

        package init(
            configuration: Configuration, redisURL: String, redisAuthority: [UInt8] = [], workers: Int,
            isAuto: Bool = false, program: String, environment: [String],
            service: ServiceEnvironment? = nil, reload: @escaping @Loop () throws -> Configuration
        ) {
            self.configuration = configuration
            self.redisURL = redisURL
            self.redisAuthority = redisAuthority
            self.workers = workers
            self.isAuto = isAuto
            self.program = program
            self.environment = environment
            self.service = service
            self.reload = reload
        }
    }
}
