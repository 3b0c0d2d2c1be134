extension Farm {
    package struct Options {
        package var workers: Int
        /// Configures `workers: auto` instead of the number.
        package var hasAutoWorkers: Bool
        /// Commands for the simulator's control socket, sent at the start.
        package var faults: [String]
        package var simulatorOptions: [String]
        /// The simulator writes a ledger. Without a ledger only its counters show requests.
        package var hasLedger = true
        package var redisPassword: String?
        /// The farm reads the Redis password from a file instead of the address.
        package var passwordInFile: Bool
        /// Redis has the users of deploy/users.acl, all with this password, and the farm logs in as one of these users.
        package var usersPassword: String?
        package var redisOptions: [String]
        package var environment: [String: String]
        /// Returns all apps of the configuration. Nil means one app for each of `appNames`, with the simulator's key.
        package var apps: ((Gateway.Started, TestFolder) -> [App])?
        package var appNames: [String]
        /// More configuration lines for each app in `appNames`.
        package var appLines: [String]
        /// More configuration lines beside `apps`. FOLDER in a line is replaced by the host's folder.
        package var lines: [String]
        /// Each host, Redis and the gateway run on separate machines of a simulated network.
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
