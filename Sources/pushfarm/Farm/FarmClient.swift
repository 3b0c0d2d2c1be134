import EventLoop
import FarmConfiguration
import OpenSSL
import RedisClient
import StoreProtocol
import Transport

/// A command's connection to the farm's Redis. Its errors have messages that commands show to the user.
@Loop struct FarmClient {
    let configuration: Configuration
    let redis: RedisConnection
    let location: RedisLocation
    /// The connections to the registries of apps, by the app's name.
    private let registries = OpenConnections()
    /// The address without its password.
    var redisAddress: String { location.description }

    static func connect(_ configuration: Configuration) async throws(CommandFailure) -> FarmClient {
        let location = configuration.redisLocation(
            privateSocketExists: LocalSocket.accepts(configuration.privateRedisSocket))
        let redis = RedisConnection(try settings(location))
        if let error = await firstFailure(of: redis) {
            redis.close()
            let text = "\(location): \(error)" + (configuration.isOfNoFile ? hint() : "")
            throw error.isTemporary ? .temporary(text) : .failed(text)
        }
        do {
            try await FarmRedis(connection: redis).checkFormat(apps: configuration.apps.map(\.name))
        } catch {
            // This Redis user may not read the format. The user may still run commands; they show the data that the
            // user may read.
            guard let error = error as? UnreadableFormat else {
                return FarmClient(configuration: configuration, redis: redis, location: location)
            }
            redis.close()
            throw .failed("\(location): \(error)")
        }
        return FarmClient(configuration: configuration, redis: redis, location: location)
    }

    /// Connects to a Redis that was just started. Repeats failed attempts, because Redis accepts no commands while it
    /// loads its append-only file.
    static func connect(
        _ configuration: Configuration, within limit: Duration
    ) async throws(CommandFailure) -> FarmClient {
        let deadline = ContinuousClock.now + limit
        while true {
            do { return try await connect(configuration) } catch {
                guard error.status == .temporary, ContinuousClock.now < deadline else { throw error }
            }
            do { try await Loop.sleep(for: .milliseconds(100)) } catch { throw .failed("interrupted") }
        }
    }

    /// A hint for a user who has not configured a Redis: the names of the state folders of the farms that run on this
    /// machine.
    private static func hint() -> String {
        let folders = RunningFarms.stateFolders()
        guard !folders.isEmpty else { return "" }
        let named = folders.prefix(20).map { PlainText.of($0, limit: 200) }.joined(separator: " or ")
        return "\npushfarm up runs with --state-dir \(named): name it here, too"
    }

    func close() {
        redis.close()
        registries.close()
    }

    /// The connection to the Redis with the app's registry of devices, and the address of that Redis without its password.
    func registryConnection(
        of app: String
    ) async throws(CommandFailure) -> (connection: RedisConnection, address: String) {
        guard var location = configuration.apps.first(where: { $0.name == app })?.registry else {
            return (redis, redisAddress)
        }
        if let known = registries[app] { return (known, location.description) }
        if location.usesTLS { location.caFile = configuration.redis?.caFile }
        let connection = RedisConnection(try Self.settings(location))
        registries[app] = connection
        if let error = await Self.firstFailure(of: connection) {
            let text = "\(location): \(error)"
            throw error.isTemporary ? .temporary(text) : .failed(text)
        }
        return (connection, location.description)
    }

    /// Starts to connect. Returns the error of the first attempt, or nil if it succeeds. A command does not wait for
    /// further attempts if Redis is unreachable.
    private static func firstFailure(of redis: RedisConnection) async -> RedisError? {
        await withCheckedContinuation { continuation in
            var waiting: CheckedContinuation<RedisError?, Never>? = continuation
            func finish(_ error: RedisError?) {
                waiting?.resume(returning: error)
                waiting = nil
            }
            redis.onReady = { _ in finish(nil) }
            redis.onLoss = { finish($0) }
            redis.start()
        }
    }

    /// Sends a request to an app's part of Redis.
    func call<Step: Request>(_ request: Step, _ app: String) async throws(CommandFailure) -> Step.Reply {
        do {
            return try await AppRedis(app: app, connection: redis).perform(request)
        } catch {
            throw failure(error)
        }
    }

    /// The latest entries of one app, or of all apps, the latest first.
    ///
    /// - Parameters:
    ///   - request: reads at most `limit` entries of an app.
    ///   - id: the entry's id.
    func latest<Step: Request, Entry>(
        _ limit: Int, of app: String?, by request: Step, _ id: (Entry) -> EntryID
    ) async throws(CommandFailure) -> [(app: String, entry: Entry)] where Step.Reply == [Entry] {
        var found: [(app: String, entry: Entry)] = []
        for name in try await apps(selectedBy: app) {
            found += try await call(request, name).map { (name, $0) }
        }
        return Array(found.sorted { id($0.entry).milliseconds > id($1.entry).milliseconds }.prefix(limit))
    }

    /// The failure of a command whose request to Redis failed.
    func failure(_ error: StoreError) -> CommandFailure {
        error.isTemporary ? .temporary("\(redisAddress): \(error)") : .failed("\(redisAddress): \(error)")
    }

    /// Sends a request to the part of Redis that all apps share.
    func ask<Value: Sendable>(
        _ question: @Loop (FarmRedis) async throws(RedisError) -> Value
    ) async throws(CommandFailure) -> Value {
        do {
            return try await question(FarmRedis(connection: redis))
        } catch {
            throw failure(.redis(error))
        }
    }

    /// Sends a command to all coordinators at once.
    func announce(_ command: FarmMessage) async throws(CommandFailure) {
        _ = try await ask { farmRedis throws(RedisError) in
            try await farmRedis.announce(Array(command.text.utf8))
        }
    }

    /// The configured apps, and the apps that Redis knows because a coordinator has, or recently had, them in its
    /// configuration.
    func apps() async throws(CommandFailure) -> [String] {
        let known = try await ask { farmRedis throws(RedisError) in try await farmRedis.apps() }
        return Set(configuration.apps.map(\.name) + known).sorted()
    }

    func mustHave(app: String) async throws(CommandFailure) {
        let known = try await apps()
        guard known.contains(app) else { throw .noApp(app, among: known) }
    }

    func mustHave(shard: Int) async throws(CommandFailure) {
        let shards = try await fixedShards()
        guard shard >= 0, shard < shards else {
            throw .usage("there is no shard \(shard): this farm has \(shards) shards, numbered from 0")
        }
    }

    /// The hosts with the status that they report.
    func hosts() async throws(CommandFailure) -> [HostStatus] {
        let lines = try await ask { farmRedis throws(RedisError) in try await farmRedis.hosts() }
        return lines.map { HostStatus(name: $0.name, json: $0.status, isAlive: $0.endsIn > .zero) }
    }

    /// The number of shards that Redis stores, or 0 when the farm has never run.
    func fixedShards() async throws(CommandFailure) -> Int {
        try await ask { farmRedis throws(RedisError) in try await farmRedis.fixedShards() } ?? 0
    }

    /// The farm's number of shards.
    func shards() async throws(CommandFailure) -> Int {
        try await ask { farmRedis throws(RedisError) in try await farmRedis.fixedShards() }
            ?? configuration.shards
    }

    /// The named app, or all apps when no app is named.
    func apps(selectedBy app: String?) async throws(CommandFailure) -> [String] {
        guard let app else { return try await apps() }
        try await mustHave(app: app)
        return [app]
    }

    /// The reason why the farm refused a job, or nil when the job is not among the latest refused jobs.
    func refusal(of id: String, _ app: String) async throws(CommandFailure) -> String? {
        let latest = try await call(ReadRefused(.latest, count: 100), app)
        return latest.first { $0.subject == id }.map { "\($0.field): \($0.reason)" }
    }

    /// The record of a job, or nil when the job has none.
    func jobRecord(_ id: String, _ app: String) async throws(CommandFailure) -> JobRecord? {
        JobRecord(id: id, app: app, fields: try await call(ReadJobRecord(job: id), app))
    }

    /// Redis's clock as the time since 1970, in whole milliseconds.
    func clock() async throws(CommandFailure) -> Duration {
        .milliseconds(try await ask { farmRedis throws(RedisError) in try await farmRedis.time() })
    }

    private static func settings(_ location: RedisLocation) throws(CommandFailure) -> RedisSettings {
        let endpoint: Endpoint =
            switch location.endpoint {
            case .tcp(let hostPort): .tcp(host: hostPort.host, port: hostPort.port)
            case .unix(let path): .unix(path: path)
            }
        var address = RedisAddress(endpoint: endpoint)
        address.usesTLS = location.usesTLS
        address.user = location.user ?? ""
        address.password = location.password?.reveal() ?? ""
        address.database = location.database
        var settings = RedisSettings(address: address, clientName: "pushfarm-cli")
        settings.toleratesNoScripts = true
        guard location.usesTLS else { return settings }
        do {
            settings.tls = try TLSContext(
                client: ClientSettings(trust: location.caFile.map { .authorityFile($0) } ?? .system))
        } catch {
            throw .usage("redis_ca_file: \(error)")
        }
        return settings
    }
}

/// Connections that are opened when a command needs them.
@Loop private final class OpenConnections {
    private var connections: [String: RedisConnection] = [:]

    subscript(name: String) -> RedisConnection? {
        get { connections[name] }
        set { connections[name] = newValue }
    }

    func close() {
        for connection in connections.values { connection.close() }
    }
}
