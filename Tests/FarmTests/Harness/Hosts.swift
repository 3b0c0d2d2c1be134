import FarmHarness
import FarmPolicy
import Foundation
import Testing

/// A farm of several hosts: one Redis, one gateway, and a coordinator with its workers on each host; each host has its own folder
/// and, in a network, an address of its own.
final class Hosts {
    struct Options {
        var names = ["alpha", "beta"]
        var apps = ["demo"]
        var workers = 2
        var faults: [String] = []
        /// Of each app.
        var appLines: [String] = []
        /// Lines beside `apps`; FOLDER in them is the host's.
        var lines: [String] = []
        /// Each host, Redis and the gateway are machines of their own.
        var isSpread = false
        var redisOptions: [String] = []
        var environment: [String: String] = [:]
    }

    let folder: TestFolder
    let network: Network?
    let redis: RedisServer
    let gateway: Gateway
    private let options: Options
    private var coordinators: [String: Child] = [:]
    private var commands = 0

    /// Machines of the network beside the hosts.
    static let redisMachine = "redis"
    static let gatewayMachine = "gateway"
    private static let port = 6379

    init(_ options: Options = Options()) async throws {
        self.options = options
        folder = try TestFolder()
        let network =
            options.isSpread
            ? try Network([Self.redisMachine, Self.gatewayMachine] + options.names) : nil
        self.network = network
        let listening = network.map {
            ["--bind", $0.address(of: Self.redisMachine), "--port", "\(Self.port)", "--protected-mode", "no"]
        }
        redis = try await RedisServer(
            in: folder.path, options: (listening ?? []) + options.redisOptions,
            prefix: network?.prefix(Self.redisMachine) ?? [])
        let place = network.map { ["--listen", $0.address(of: Self.gatewayMachine)] } ?? []
        let name = network.map { ["--server-name", $0.address(of: Self.gatewayMachine)] } ?? []
        gateway = try await Gateway(
            in: folder.path, faults: options.faults, options: place + name,
            prefix: network?.prefix(Self.gatewayMachine) ?? [])
    }

    deinit {
        // Before the network: a namespace lives as long as a process in it.
        for coordinator in coordinators.values { coordinator.destroy() }
        gateway.process.destroy()
        redis.process.destroy()
    }

    // MARK: Hosts

    /// Starts a host's coordinator, for the first time or again.
    @discardableResult
    func start(
        _ host: String, as name: String? = nil, workers: Int? = nil, logFile: String? = nil,
        environment: [String: String] = [:]
    ) throws -> Child {
        let home = folder.path + "/" + host
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        let address =
            network.map { "redis://\($0.address(of: Self.redisMachine)):\(Self.port)/0" }
            ?? "unix://" + redis.socket
        let text = Farm.configuration(
            address, workers: workers ?? options.workers, folder: home,
            apps: options.apps.map { App(gateway.started, name: $0, more: options.appLines) },
            host: name ?? host, more: options.lines)
        try folder.write(
            (logFile.map { "log: { file: \($0) }\n" } ?? "") + text, to: host + "/pushfarm.yaml")
        let child = try Child(
            "coordinator", BuiltProgram.path, ["coordinator", "--config", home + "/pushfarm.yaml"],
            environment: options.environment.merging(environment) { $1 }, in: home,
            prefix: network?.prefix(host) ?? [])
        coordinators[host] = child
        return child
    }

    /// Starts all, and waits until they share the app's shards as they should.
    func startAll() async throws {
        for host in options.names { try start(host) }
        try await shared(by: options.names)
    }

    /// The text of a host's configuration.
    func configuration(_ host: String) throws -> String {
        try String(contentsOfFile: folder.path + "/" + host + "/pushfarm.yaml", encoding: .utf8)
    }

    func coordinator(_ host: String) -> Child {
        guard let child = coordinators[host] else { preconditionFailure("\(host) was not started") }
        return child
    }

    /// Sends a signal to all processes of a host, as when a machine loses its power or is stopped.
    func signal(_ host: String, _ number: Int32) { _ = kill(-coordinator(host).pid, number) }

    /// Sends a signal to a process, if it belongs to the host's group.
    func signal(child pid: pid_t, of host: String, _ number: Int32) {
        guard coordinator(host).descendants.contains(pid) else {
            Issue.record("process \(pid) is none of \(host)'s own")
            return
        }
        _ = kill(pid, number)
    }

    // MARK: What Redis says

    /// The owners of shards and intake; fields without an owner are omitted.
    func owners(of app: String = "demo") throws -> [String: String] {
        try redis.client().run("HGETALL", "{pushfarm:\(app)}:owners").fields
            .filter { !$0.key.hasPrefix("until:") }
            .compactMapValues { token in
                let parts = token.split(separator: ":", omittingEmptySubsequences: false)
                return parts.count == 3 && !parts[2].isEmpty ? String(parts[2]) : nil
            }
    }

    /// Shards of each host.
    func shares() throws -> [String: Int] {
        try owners().reduce(into: [:]) { if $1.key != "intake" { $0[$1.value, default: 0] += 1 } }
    }

    /// Waits until all shards and intakes are owned by the right ones of these hosts.
    func shared(by hosts: [String], within limit: Duration = .seconds(60)) async throws {
        var last: [String: [String: String]] = [:]
        do {
            try await eventually("the shards are shared by \(hosts)", within: limit) {
                for app in options.apps { last[app] = try owners(of: app) }
                return options.apps.allSatisfy { last[$0] == expected(hosts, app: $0) }
            }
        } catch {
            Issue.record("owners: \(last)")
            throw error
        }
    }

    /// The right owners, by the rule that all hosts follow.
    func expected(_ hosts: [String], app: String = "demo") -> [String: String] {
        let shares = HostShares(app: app, hosts: hosts.map { (name: $0, capacity: options.workers) })
        var owners = ["intake": shares.owner(of: .intake)]
        for shard in 0..<64 {
            owners[shard < 10 ? "0\(shard)" : "\(shard)"] = shares.owner(of: .shard(shard))
        }
        return owners.compactMapValues { $0 }
    }

    // MARK: Jobs and commands

    func push(_ jobs: [Job]) throws {
        try redis.client().pipeline(jobs.map { ["RPUSH", "pushfarm:demo", $0.text] })
    }

    /// The jobs that the intake took, in its order.
    func accepted(app: String) throws -> [String] {
        try redis.client().run("XRANGE", "{pushfarm:\(app)}:events", "-", "+").entries
            .filter { $0["type"] == "job.accepted" }.compactMap { $0["job"] }
    }

    /// The sums of the job records when they are finished.
    func finished(
        _ jobs: [Job], app: String = "demo", within limit: Duration = .seconds(90)
    ) async throws -> Totals {
        var totals = Totals()
        for job in jobs {
            let account = try await eventually("job \(job.id) is finished", within: limit) {
                let fields = try redis.client().run("HGETALL", "{pushfarm:\(app)}:job:\(job.id)").fields
                return fields["state"] == "finished" ? fields : nil
            }
            func number(_ name: String) -> Int { account[name].flatMap { Int($0) } ?? 0 }
            #expect(number("submitted") == job.tokens.count)
            #expect(
                number("accepted") == number("delivered") + number("failed") + number("expired"), "\(account)"
            )
            totals.accepted += number("accepted")
            totals.delivered += number("delivered")
            totals.failed += number("failed")
            totals.maybeDuplicated += number("maybe_duplicated")
        }
        return totals
    }

    /// Runs one of the farm's commands on a host.
    func run(_ arguments: [String], on host: String) async throws -> Farm.Result {
        commands += 1
        let home = folder.path + "/" + host
        let child = try Child(
            "command-\(commands)", BuiltProgram.path, arguments + ["--config", home + "/pushfarm.yaml"],
            in: home, prefix: network?.prefix(host) ?? [])
        guard case .exited(let status) = try await child.wait(within: .seconds(100)) else {
            throw Overdue(description: "\(arguments) was killed: \(child.error)")
        }
        return Farm.Result(status: status, output: child.output, error: child.error)
    }

    func log(_ host: String) -> String { coordinator(host).error }
}
