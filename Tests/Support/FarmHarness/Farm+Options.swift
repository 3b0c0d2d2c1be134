extension Farm {
    package struct Options {
        package var workers: Int
        /// Whether to configure `workers: auto` instead of the number `workers`.
        package var hasAutoWorkers: Bool
        /// Control commands that the simulator executes at its start.
        package var faults: [String]
        package var simulatorOptions: [String]
        /// Whether the simulator writes a ledger. Without a ledger, tests see requests only in the simulator's
        /// counters.
        package var hasLedger = true
        package var redisPassword: String?
        /// Whether the farm reads the Redis password from a file instead of the address.
        package var passwordInFile: Bool
        /// If this password is set, Redis has the users of deploy/users.acl. All users have this password, and the farm
        /// logs in as one of the users.
        package var usersPassword: String?
        package var redisOptions: [String]
        package var environment: [String: String]
        /// Returns all apps of the configuration. If this closure is nil, each name in `appNames` is an app with the
        /// simulator's key.
        package var apps: ((Gateway.Started, TestFolder) -> [App])?
        package var appNames: [String]
        /// Lines that are added to the configuration of each app in `appNames`.
        package var appLines: [String]
        /// Top-level configuration lines in addition to `apps`. The host's folder replaces the word FOLDER in a
        /// line.
        package var lines: [String]
        /// Whether each host, Redis and the gateway run on separate machines of a simulated network.
        package var isSpread: Bool
        /// The first words of each coordinator's command line, such as `taskset`.
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
