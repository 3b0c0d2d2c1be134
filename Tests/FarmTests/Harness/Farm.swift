import FarmHarness
import Foundation
import Testing

/// A whole farm for one test: Redis, a simulated gateway, a coordinator with its workers, each a real process.
final class Farm {
    struct Options {
        var workers = 2
        /// `workers: auto` instead.
        var hasAutoWorkers = false
        /// Lines for the simulator's control command, applied at the start.
        var faults: [String] = []
        var simulatorOptions: [String] = []
        var redisPassword: String?
        /// The farm reads Redis's password from a file, and not from the address.
        var passwordInFile = false
        /// Redis has the users of deploy/users.acl, each with this password, and the farm is one of them.
        var usersPassword: String?
        var redisOptions: [String] = []
        var environment: [String: String] = [:]
        /// The whole of `apps:`; nil: one app "demo" with the simulator's key.
        var apps: ((Gateway.Started, TestFolder) -> [App])?
        /// More lines of the app.
        var appLines: [String] = []
        /// Lines beside `apps`; FOLDER in them is the farm's.
        var lines: [String] = []
    }

    let folder: TestFolder
    let redis: RedisServer
    let gateway: Gateway
    private(set) var coordinator: Child
    private let options: Options
    private var commands = 0

    init(_ options: Options = Options()) async throws {
        self.options = options
        folder = try TestFolder()
        if let password = options.usersPassword {
            let file = try folder.write(Users.text(password), to: "users.acl")
            redis = try await RedisServer(
                in: folder.path, password: password, user: "operator", options: ["--aclfile", file])
        } else {
            redis = try await RedisServer(
                in: folder.path, password: options.redisPassword, options: options.redisOptions)
        }
        gateway = try await Gateway(
            in: folder.path, faults: options.faults, options: options.simulatorOptions)
        let who =
            options.usersPassword.map { "farm:\($0)@" } ?? options.redisPassword.map { ":\($0)@" } ?? ""
        var address = "unix://" + who + redis.socket
        if options.passwordInFile, let password = options.redisPassword {
            let file = try folder.write(password + "\n", to: "redis-password")
            address = "unix://\(redis.socket)\nredis_password_file: \(file)"
        }
        let apps = options.apps?(gateway.started, folder) ?? [App(gateway.started, more: options.appLines)]
        try folder.write(
            Self.configuration(
                address, workers: options.hasAutoWorkers ? "auto" : "\(options.workers)", folder: folder.path,
                apps: apps, more: options.lines),
            to: "pushfarm.yaml")
        coordinator = try Self.startCoordinator(folder, options.environment)
    }

    deinit { coordinator.destroy() }

    static func configuration(
        _ redis: String, workers: some CustomStringConvertible, folder: String, apps: [App],
        host: String = "here", more: [String] = []
    ) -> String {
        more.map { $0.replacing("FOLDER", with: folder) + "\n" }.joined() + """
            redis: \(redis)
            state_dir: \(folder)/var
            host: \(host)
            workers: \(workers)
            apps:
            \(apps.map(\.text).joined(separator: "\n"))
            """ + "\n"
    }

    // MARK: The coordinator

    /// Starts another coordinator after the first has ended.
    func restartCoordinator(environment: [String: String]? = nil) throws {
        coordinator = try Self.startCoordinator(folder, environment ?? options.environment)
    }

    private static func startCoordinator(_ folder: TestFolder, _ environment: [String: String]) throws
        -> Child
    {
        try Child(
            "coordinator", BuiltProgram.path,
            ["coordinator", "--config", folder.path + "/pushfarm.yaml"],
            environment: environment, in: folder.path)
    }

    /// Kills a process, if it belongs to the coordinator's group.
    func kill(worker pid: pid_t) { signal(child: pid, SIGKILL) }

    func kill(child pid: pid_t) { signal(child: pid, SIGKILL) }

    func signal(worker pid: pid_t, _ number: Int32) { signal(child: pid, number) }

    private func signal(child pid: pid_t, _ number: Int32) {
        guard coordinator.descendants.contains(pid) else {
            Issue.record("process \(pid) is none of the farm's own")
            return
        }
        _ = Foundation.kill(pid, number)
    }

    /// Living worker processes, from the machine, because the farm's own status is a moment old.
    var workers: [pid_t] { coordinator.descendants.filter { ProcessTable.isAbout("worker", $0) } }

    // MARK: Jobs

    /// Pushes jobs as a producer does, with a raw client.
    func push(_ jobs: [Job], to app: String = "demo") throws {
        try redis.client().pipeline(jobs.map { ["RPUSH", "pushfarm:\(app)", $0.text] })
    }

    func push(_ text: String, to app: String = "demo") throws {
        try redis.client().run("RPUSH", "pushfarm:\(app)", text)
    }

    /// The job record when the job is finished; its accounting is checked.
    func finished(
        _ id: String, app: String = "demo", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Account {
        let result = try await run("job", id, "--app", app, "--wait", "--json")
        guard result.status <= 1, !result.output.isEmpty else {
            throw Overdue(description: "job \(id): \(result)\n\(coordinator.error.suffix(2000))")
        }
        let account = try JSONDecoder().decode(Account.self, from: Data(result.output.utf8))
        #expect(account.addsUp && account.state == "finished", "\(account)", sourceLocation: sourceLocation)
        return account
    }

    /// The sums of the job records when all are finished. The test polls Redis, and runs one command at the end: a process for each
    /// job or poll would take CPU time from the farm.
    func finished(
        _ jobs: [Job], app: String = "demo", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Totals {
        var totals = Totals()
        if let job = jobs.first, jobs.count == 1 {
            let account = try await finished(job.id, app: app, sourceLocation: sourceLocation)
            #expect(account.submitted == job.tokens.count, sourceLocation: sourceLocation)
            totals.add(account)
            return totals
        }
        do {
            try await eventually("\(jobs.count) jobs are finished", within: .seconds(150)) {
                areFinished(jobs, app)
            }
        } catch {
            throw Overdue(description: "\(error)\n\(coordinator.error.suffix(2000))")
        }
        let result = try await run("jobs", "--app", app, "--limit", "10000", "--json")
        let list = try JSONDecoder().decode([String: [Account]].self, from: Data(result.output.utf8))
        let accounts = Dictionary((list["jobs"] ?? []).map { ($0.id, $0) }) { first, _ in first }
        for job in jobs {
            guard let account = accounts[job.id] else {
                throw Overdue(description: "job \(job.id) is not listed: \(result)")
            }
            #expect(
                account.addsUp && account.state == "finished", "\(account)", sourceLocation: sourceLocation)
            #expect(account.submitted == job.tokens.count, sourceLocation: sourceLocation)
            totals.add(account)
        }
        return totals
    }

    /// Redis may be away for a while.
    private func areFinished(_ jobs: [Job], _ app: String) -> Bool {
        let states = try? redis.client().pipeline(
            jobs.map { ["HGET", "{pushfarm:\(app)}:job:\($0.id)", "state"] })
        return states?.allSatisfy { $0.text == "finished" } ?? false
    }

    /// The current job record; nil when there is none.
    func account(_ id: String) async throws -> Account? {
        let result = try await run("job", id, "--app", "demo", "--json")
        return try? JSONDecoder().decode(Account.self, from: Data(result.output.utf8))
    }

    // MARK: What the farm says

    func events(_ type: String? = nil, app: String = "demo") throws -> [[String: String]] {
        let all = try redis.client().run("XRANGE", "{pushfarm:\(app)}:events", "-", "+").entries
        return type.map { type in all.filter { $0["type"] == type } } ?? all
    }

    /// Keys of the shards' suppression lists.
    func suppressionLists() throws -> [String] {
        try redis.client().run("KEYS", "{pushfarm:demo}:suppressed:*").array?.compactMap(\.text) ?? []
    }

    /// The records of all suppression lists.
    func suppressionRecords() throws -> Int {
        let redis = try redis.client()
        return try suppressionLists().reduce(0) { $0 + Int(try redis.run("XLEN", $1).integer ?? 0) }
    }

    /// Jobs that were refused, as they are kept.
    func refused(app: String = "demo") throws -> [[String: String]] {
        try redis.client().run("XRANGE", "{pushfarm:\(app)}:refused", "-", "+").entries
    }

    func event(_ type: String, app: String = "demo", number: Int = 1) async throws -> [String: String] {
        try await eventually("event \(type) number \(number)") {
            let found = try events(type, app: app)
            return found.count >= number ? found[number - 1] : nil
        }
    }

    func status() async throws -> Status {
        try Status(json: try await run("status", "--json").output)
    }

    /// Waits until the host's intake and all its workers are ready. Polling Redis is cheaper than a command.
    func ready() async throws -> Status.Host {
        try await eventually("intake and workers are ready") {
            let lines =
                (try? redis.client().run("HVALS", "{pushfarm}:hosts"))?.array?.compactMap(\.text) ?? []
            guard lines.contains(where: { $0.contains(#""ready""#) && !$0.contains(#""starting""#) }),
                let host = try await status().hosts.first(where: { $0.pid == coordinator.pid })
            else { return nil }
            let isReady =
                host.intake.state == "ready" && host.workers.count == host.capacity
                && host.workers.allSatisfy { $0.state == "ready" }
            return isReady ? host : nil
        }
    }

    // MARK: Commands

    struct Result {
        let status: Int32
        let output: String
        let error: String
    }

    /// Runs one of the farm's commands with its configuration, to its end.
    func run(_ arguments: String...) async throws -> Result {
        try await run(
            arguments + ["--config", folder.path + "/pushfarm.yaml"], environment: options.environment)
    }

    func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Result {
        commands += 1
        let child = try Child(
            "command-\(commands)", BuiltProgram.path, arguments, environment: environment, in: folder.path)
        guard case .exited(let status) = try await child.wait(within: .seconds(100)) else {
            throw Overdue(description: "\(arguments) was killed: \(child.error)")
        }
        return Result(status: status, output: child.output, error: child.error)
    }
}
