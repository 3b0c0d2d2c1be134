extension Farm {
    package struct Options {
        package var workers: Int
        /// `workers: auto` instead.
        package var hasAutoWorkers: Bool
        /// Lines for the simulator's control command, applied at the start.
        package var faults: [String]
        package var simulatorOptions: [String]
        /// Without it, only the simulator's counters show what arrived.
        package var hasLedger = true
        package var redisPassword: String?
        /// The farm reads Redis's password from a file, and not from the address.
        package var passwordInFile: Bool
        /// Redis has the users of deploy/users.acl, each with this password, and the farm is one of them.
        package var usersPassword: String?
        package var redisOptions: [String]
        package var environment: [String: String]
        /// The whole of `apps:`; nil: `appNames`, with the simulator's key.
        package var apps: ((Gateway.Started, TestFolder) -> [App])?
        package var appNames: [String]
        /// More lines of each app in `appNames`.
        package var appLines: [String]
        /// Lines beside `apps`; FOLDER in them is the host's.
        package var lines: [String]
        /// Each host, Redis and the gateway are machines of their own.
        package var isSpread: Bool
        /// The start of each coordinator's command line, such as `taskset`.
        package var prefix: [String] = []

        package init(
            workers: Int = 2, hasAutoWorkers: Bool = false, faults: [String] = [],
            simulatorOptions: [String] = [], redisPassword: String? = nil, passwordInFile: Bool = false,
            usersPassword: String? = nil, redisOptions: [String] = [], environment: [String: String] = [:],
            apps: ((Gateway.Started, TestFolder) -> [App])? = nil, appNames: [String] = ["demo"],
            appLines: [String] = [], lines: [String] = [], isSpread: Bool = false
        ) {
            (self.workers, self.hasAutoWorkers) = (workers, hasAutoWorkers)
            (self.faults, self.simulatorOptions) = (faults, simulatorOptions)
            (self.redisPassword, self.passwordInFile) = (redisPassword, passwordInFile)
            (self.usersPassword, self.redisOptions) = (usersPassword, redisOptions)
            self.environment = environment
            (self.apps, self.appNames, self.appLines) = (apps, appNames, appLines)
            (self.lines, self.isSpread) = (lines, isSpread)
        }

        var workersText: String { hasAutoWorkers ? "auto" : "\(workers)" }
    }
}
