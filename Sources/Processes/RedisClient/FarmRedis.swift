package import EventLoop
import RedisProtocol
package import StoreProtocol

#if FAILPOINTS
    import Failpoints
#endif

/// The Redis data that all apps of a farm share: the number of shards, the hosts, the sealed provider tokens, and
/// operators' commands.
@Loop package struct FarmRedis {
    /// A host's registry entry, as the host wrote it.
    package struct Host: Equatable, Sendable {
        package let name: String
        /// The apps that the host is configured with; empty if the host is drained.
        package let apps: [String]
        /// The host's status as JSON.
        package let status: [UInt8]
        /// The time until the entry expires; negative if it has expired.
        package let endsIn: Duration
    }

    package enum TokenSwap: Equatable, Sendable {
        case put
        /// Another host has already stored its token: use that host's token, which this value contains.
        case stored([UInt8])
    }

    package let connection: RedisConnection

    package init(connection: RedisConnection) { self.connection = connection }

    /// Sets the farm's number of shards at the first start.
    /// - Throws: ``ShardCountMismatch`` if the farm already has a different number of shards.
    package func fixShards(_ shards: Int) async throws {
        let fixed = try await keepInitialised(shards: shards, apps: [])
        if fixed != shards { throw ShardCountMismatch(configured: shards, fixed: fixed) }
    }

    /// Reads the farm's number of shards; nil if the farm was never started or the stored number is invalid.
    package func fixedShards() async throws(RedisError) -> Int? {
        let text = try await connection.call(RESPCommand("HGET", FarmKeys.farm, "shards")).text
        return text.flatMap { Int(foreign: $0) }.flatMap { FarmKeys.shards.contains($0) ? $0 : nil }
    }

    package func addApps(_ apps: [String]) async throws(RedisError) {
        _ = try await keepInitialised(shards: 0, apps: apps)
    }

    /// Makes sure that Redis has the farm's number of shards and its apps, for example after a flush.
    /// - Returns: the farm's number of shards, which differs from `shards` if another host has set a different number.
    package func keepInitialised(shards: Int, apps: [String]) async throws(RedisError) -> Int {
        let words = [FarmKeys.farm, FarmKeys.apps, "\(shards)", "\(DataFormat.current)"] + apps
        return Int(try await run(.initFarm, keys: 2, words).integer ?? 0)
    }

    package func apps() async throws(RedisError) -> [String] {
        let reply = try await connection.call(RESPCommand("SMEMBERS", FarmKeys.apps))
        return (reply.array ?? []).compactMap(\.text).sorted()
    }

    /// Writes a host's registry entry, which expires after `lifetime` unless it is written again.
    /// - Parameter predecessor: the nonce of a coordinator that is known to have exited, or "".
    package func heartbeat(
        _ line: Heartbeat, predecessor: String = "", lifetime: Duration
    ) async throws(RedisError) -> Heartbeat.Reply {
        var command = [FarmKeys.hosts, line.host, "\(lifetime.wholeMilliseconds)", line.nonce, predecessor]
        command += ["\(line.capacity)", line.apps.joined(separator: ",")]
        let reply = try await run(.heartbeat, command.map { Array($0.utf8) } + [line.status])
        return Heartbeat.Reply(reply)
    }

    /// Removes a host's registry entry if it still belongs to this coordinator.
    package func leave(host: String, nonce: String) async throws(RedisError) {
        #if FAILPOINTS
            Failpoint.hit("redis.leave.before")
        #endif
        _ = try await heartbeat(Heartbeat(host: host, nonce: nonce), lifetime: .zero)
    }

    /// Reads Redis's time in milliseconds since 1970.
    package func time() async throws(RedisError) -> Int64 {
        try await connection.call(RESPCommand("TIME")).time ?? 0
    }

    /// Reads the registry entries of all hosts, sorted by name. An entry may have expired (see ``Host/endsIn``).
    package func hosts() async throws(RedisError) -> [Host] {
        let now = Int(try await time())
        let lines = try await connection.call(RESPCommand("HGETALL", FarmKeys.hosts)).pairs
        return lines.compactMap { name, line in
            // Each entry has the layout "end nonce capacity apps JSON".
            let parts = (line.bytes ?? []).split(
                separator: UInt8(ascii: " "), maxSplits: 4, omittingEmptySubsequences: false)
            guard let name = name.text, parts.count == 5,
                let ends = Int(foreign: String(decoding: parts[0], as: UTF8.self))
            else { return nil }
            let apps = parts[3].split(separator: UInt8(ascii: ",")).map {
                String(decoding: $0, as: UTF8.self)
            }
            return Host(
                name: name, apps: apps, status: Array(parts[4]), endsIn: .milliseconds(ends - now))
        }.sorted { $0.name < $1.name }
    }

    /// Reads the sealed provider token that the hosts share.
    package func providerToken(of identity: ProviderTokenIdentity) async throws(RedisError) -> [UInt8]? {
        try await connection.call(RESPCommand("GET", FarmKeys.provider(identity))).bytes
    }

    /// Stores a sealed provider token if Redis still has the token `old`. If `old` is nil, the token is stored only if
    /// Redis has no token.
    package func swapProviderToken(
        of identity: ProviderTokenIdentity, from old: [UInt8]?, to new: [UInt8], lifetime: Duration
    ) async throws(RedisError) -> TokenSwap {
        let milliseconds = Array("\(lifetime.wholeMilliseconds)".utf8)
        let reply = try await run(
            .swapProviderToken, [Array(FarmKeys.provider(identity).utf8), old ?? [], new, milliseconds])
        guard let parts = reply.array, parts.first?.integer != 1 else { return .put }
        return .stored(parts.last?.bytes ?? [])
    }

    /// Records that a gateway refused the provider token with this issue time. For each gateway, Redis keeps only the
    /// refusal of the newest token.
    ///
    /// - Parameters:
    ///   - issuedAt: the issue time of the token, in seconds since 1970.
    ///   - lifetime: how long Redis keeps the refusal. This must be longer than the time for which hosts share a token.
    package func refuseProviderToken(
        of identity: ProviderTokenIdentity, issuedAt: Int64, by gateway: String, lifetime: Duration
    ) async throws(RedisError) {
        let key = FarmKeys.refusedProvider(identity)
        _ = try await connection.call(RESPCommand("ZADD", key, "GT", "\(issuedAt)", gateway))
        _ = try await connection.call(RESPCommand("EXPIRE", key, "\(lifetime.components.seconds)"))
    }

    /// The issue time, in seconds since 1970, of the newest provider token that the gateway has refused.
    package func refusedProviderToken(
        of identity: ProviderTokenIdentity, by gateway: String
    ) async throws(RedisError) -> Int64? {
        let score = try await connection.call(
            RESPCommand("ZSCORE", FarmKeys.refusedProvider(identity), gateway))
        return score.text.flatMap { Int64(foreign: $0) }
    }

    /// Sends a command to every coordinator that listens on ``FarmKeys/coordinators``.
    /// - Returns: the number of subscribers that received the command.
    package func announce(_ command: [UInt8]) async throws(RedisError) -> Int {
        Int(try await connection.call(publication(of: command)).integer ?? 0)
    }

    /// Sends a command to every coordinator without waiting for Redis's reply. If the message is lost, the other hosts
    /// learn the same fact when they next read Redis, which they do at regular intervals.
    package func send(_ command: String) {
        connection.send(publication(of: Array(command.utf8))) { _ in }
    }

    private func publication(of command: [UInt8]) -> RESPCommand {
        var publish = RESPCommand("PUBLISH", FarmKeys.coordinators)
        publish.append(command)
        return publish
    }

    /// Reads the reply of the Redis command INFO.
    package func info() async throws(RedisError) -> RedisInfo {
        RedisInfo(try await connection.call(RESPCommand("INFO")).text ?? "")
    }

    /// Reads the memory section of INFO.
    package func memory() async throws(RedisError) -> RedisInfo {
        RedisInfo(try await connection.call(RESPCommand("INFO", "memory")).text ?? "")
    }

    func run(_ script: Script, keys: Int, _ words: [String]) async throws(RedisError) -> RESPValue {
        try await run(script, keys: keys, words.map { Array($0.utf8) })
    }

    /// - Parameter arguments: the script's keys, then its other arguments.
    func run(
        _ script: Script, keys: Int = 1, _ arguments: [[UInt8]]
    ) async throws(RedisError) -> RESPValue {
        #if FAILPOINTS
            Failpoint.hit("redis.\(script.rawValue).before")
            defer { Failpoint.hit("redis.\(script.rawValue).after") }
        #endif
        guard let hash = connection.hash(of: script) else {
            throw connection.isReady ? .noScripts : .notConnected("not yet connected")
        }
        var command = RESPCommand("EVALSHA")
        command.append(hash)
        command.append(keys)
        for argument in arguments { command.append(argument) }
        let result = await withCheckedContinuation { continuation in
            connection.run(script, command) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}

/// The number of shards in the configuration differs from the number with which the farm was started.
package struct ShardCountMismatch: Error, Equatable, CustomStringConvertible {
    package let configured: Int
    package let fixed: Int

    package var description: String {
        "the configuration says \(configured) shards, but this farm was started with \(fixed): the number cannot change"
    }
}
