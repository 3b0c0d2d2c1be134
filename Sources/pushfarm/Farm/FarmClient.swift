import EventLoop
import FarmConfiguration
import OpenSSL
import RedisClient
import StoreProtocol
import Transport

/// A command's connection to the farm's Redis. Errors come out as what the process has to say.
@Loop struct FarmClient {
    let configuration: Configuration
    let redis: RedisConnection
    let location: RedisLocation
    /// The address, without its password.
    var place: String { location.description }

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
            try await FarmRegistry(connection: redis).checkFormat(apps: configuration.apps.map(\.name))
        } catch {
            // Users whose rights do not reach so far see what Redis lets them see.
            guard let error = error as? UnreadableFormat else {
                return FarmClient(configuration: configuration, redis: redis, location: location)
            }
            redis.close()
            throw .failed("\(location): \(error)")
        }
        return FarmClient(configuration: configuration, redis: redis, location: location)
    }

    /// Connects to a Redis that was just started: one that reads its append-only file does not answer yet.
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

    /// Where a farm runs, when no Redis is configured and none is in this folder.
    private static func hint() -> String {
        let folders = RunningFarms.stateFolders()
        guard !folders.isEmpty else { return "" }
        let named = folders.prefix(20).map { PlainText.of($0, limit: 200) }.joined(separator: " or ")
        return "\npushfarm up runs with --state-dir \(named): name it here, too"
    }

    func close() { redis.close() }

    /// Begins to connect. Nil when the first try succeeds: a command does not wait for a Redis that is not there.
    private static func firstFailure(of redis: RedisConnection) async -> RedisError? {
        await withCheckedContinuation { continuation in
            var waiting: CheckedContinuation<RedisError?, Never>? = continuation
            func answer(_ error: RedisError?) {
                waiting?.resume(returning: error)
                waiting = nil
            }
            redis.onReady = { _ in answer(nil) }
            redis.onLoss = { answer($0) }
            redis.start()
        }
    }

    /// Makes a request on an app's part of Redis.
    func call<Step: Request>(_ request: Step, _ app: String) async throws(CommandFailure) -> Step.Reply {
        do {
            return try await AppStore(app: app, connection: redis).perform(request)
        } catch {
            throw failure(error)
        }
    }

    /// What the process has to say of a step that did not happen.
    func failure(_ error: StoreError) -> CommandFailure {
        error.isTemporary ? .temporary("\(place): \(error)") : .failed("\(place): \(error)")
    }

    /// Asks what all apps share.
    func ask<Value: Sendable>(
        _ question: @Loop (FarmRegistry) async throws(RedisError) -> Value
    ) async throws(CommandFailure) -> Value {
        do {
            return try await question(FarmRegistry(connection: redis))
        } catch {
            throw failure(.redis(error))
        }
    }

    /// Has all coordinators do something at once.
    func announce(_ command: HostCommand) async throws(CommandFailure) {
        _ = try await ask { registry throws(RedisError) in
            try await registry.announce(Array(command.text.utf8))
        }
    }

    /// Apps of the configuration, and those that a coordinator of this farm was ever configured with.
    func apps() async throws(CommandFailure) -> [String] {
        let known = try await ask { registry throws(RedisError) in try await registry.apps() }
        return Set(configuration.apps.map(\.name) + known).sorted()
    }

    func mustHave(app: String) async throws(CommandFailure) {
        let known = try await apps()
        guard known.contains(app) else { throw .noApp(app, among: known) }
    }

    func mustHave(shard: Int) async throws(CommandFailure) {
        let shards = try await ask { registry throws(RedisError) in try await registry.fixedShards() } ?? 0
        guard shard >= 0, shard < shards else {
            throw .usage("there is no shard \(shard): this farm has \(shards)")
        }
    }

    /// The hosts, as they say themselves.
    func hosts() async throws(CommandFailure) -> [HostStatus] {
        let lines = try await ask { registry throws(RedisError) in try await registry.hosts() }
        return lines.map { HostStatus(name: $0.name, json: $0.status, isAlive: $0.endsIn > .zero) }
    }

    /// The farm's number of shards.
    func shards() async throws(CommandFailure) -> Int {
        try await ask { registry throws(RedisError) in try await registry.fixedShards() }
            ?? configuration.shards
    }

    /// The app that is meant; all when none is named.
    func apps(meant app: String?) async throws(CommandFailure) -> [String] {
        guard let app else { return try await apps() }
        try await mustHave(app: app)
        return [app]
    }

    /// Why a job was refused, if it was and the refusal is among the latest.
    func refusal(of id: String, _ app: String) async throws(CommandFailure) -> String? {
        let latest = try await call(ReadRefused(.latest, count: 100), app)
        return latest.first { $0.job == id }.map { "\($0.field): \($0.reason)" }
    }

    /// The record of a job; nil if there is none.
    func jobRecord(_ id: String, _ app: String) async throws(CommandFailure) -> JobRecord? {
        JobRecord(id: id, app: app, fields: try await call(ReadJobRecord(job: id), app))
    }

    /// Redis's clock, since 1970, to the millisecond.
    func clock() async throws(CommandFailure) -> Duration {
        .milliseconds(try await ask { registry throws(RedisError) in try await registry.time() })
    }

    private static func settings(_ location: RedisLocation) throws(CommandFailure) -> RedisSettings {
        let endpoint: Endpoint =
            switch location.endpoint {
            case .tcp(let place): .tcp(host: place.host, port: place.port)
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
