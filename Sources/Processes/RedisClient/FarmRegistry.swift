package import EventLoop
import RedisProtocol
package import StoreProtocol

#if FAILPOINTS
    import Failpoints
#endif

/// What all apps of a farm share: its fixed number of shards, its hosts, sealed provider tokens, commands.
@Loop package struct FarmRegistry {
    /// A host's line, as it wrote it.
    package struct Host: Equatable, Sendable {
        package let name: String
        /// Apps that it is configured with; empty when it is drained.
        package let apps: [String]
        /// JSON.
        package let status: [UInt8]
        /// Until the line ends; below zero when it has ended.
        package let endsIn: Duration
    }

    package enum SwapReply: Equatable, Sendable {
        case put
        /// Another was there first: use this one.
        case stored([UInt8])
    }

    package let connection: RedisConnection

    package init(connection: RedisConnection) { self.connection = connection }

    /// Fixes the farm's number of shards at the first start.
    /// - Throws: ``FarmMismatch`` when it was fixed to another number.
    package func fixShards(_ shards: Int) async throws {
        let fixed = try await keepInitialised(shards: shards, apps: [])
        if fixed != shards { throw FarmMismatch(configured: shards, fixed: fixed) }
    }

    /// Nil before the farm was ever started, and when the stored number is none that a farm can have.
    package func fixedShards() async throws(RedisError) -> Int? {
        let text = try await connection.call(RESPCommand("HGET", FarmKeys.farm, "shards")).text
        return text.flatMap { Int(foreign: $0) }.flatMap { FarmKeys.shards.contains($0) ? $0 : nil }
    }

    package func addApps(_ apps: [String]) async throws(RedisError) {
        _ = try await keepInitialised(shards: 0, apps: apps)
    }

    /// Makes sure that the farm is initialised and its apps are known, as after Redis was flushed.
    /// - Returns: the farm's number of shards, which may be another one when another host has initialised it.
    package func keepInitialised(shards: Int, apps: [String]) async throws(RedisError) -> Int {
        let words = [FarmKeys.farm, FarmKeys.apps, "\(shards)", "\(DataFormat.current)"] + apps
        return Int(try await run(.initFarm, keys: 2, words).integer ?? 0)
    }

    package func apps() async throws(RedisError) -> [String] {
        let answer = try await connection.call(RESPCommand("SMEMBERS", FarmKeys.apps))
        return (answer.array ?? []).compactMap(\.text).sorted()
    }

    /// Writes a host's line; it ends after `lifetime` unless written again.
    /// - Parameter predecessor: the coordinator that is known to be gone, or "".
    package func heartbeat(
        _ line: Heartbeat, predecessor: String = "", lifetime: Duration
    ) async throws(RedisError) -> Heartbeat.Reply {
        var command = [FarmKeys.hosts, line.host, "\(lifetime.wholeMilliseconds)", line.nonce, predecessor]
        command += ["\(line.capacity)", line.apps.joined(separator: ",")]
        let answer = try await run(.heartbeat, command.map { Array($0.utf8) } + [line.status])
        return Heartbeat.Reply(answer)
    }

    /// Takes a host's line out, if it is still this coordinator's.
    package func leave(host: String, nonce: String) async throws(RedisError) {
        #if FAILPOINTS
            Failpoint.hit("redis.leave.before")
        #endif
        _ = try await heartbeat(Heartbeat(host: host, nonce: nonce), lifetime: .zero)
    }

    /// Redis's milliseconds.
    package func time() async throws(RedisError) -> Int64 {
        try await connection.call(RESPCommand("TIME")).time ?? 0
    }

    /// Lines of the last hour, by name.
    package func hosts() async throws(RedisError) -> [Host] {
        let now = Int(try await time())
        let lines = try await connection.call(RESPCommand("HGETALL", FarmKeys.hosts)).pairs
        return lines.compactMap { name, line in
            // "end nonce capacity apps JSON"
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

    /// The sealed provider token that the hosts share.
    package func providerToken(of owner: ProviderTokenOwner) async throws(RedisError) -> [UInt8]? {
        try await connection.call(RESPCommand("GET", FarmKeys.provider(owner))).bytes
    }

    /// Puts a sealed provider token if the stored one is still `old` (nil: none is).
    package func swapProviderToken(
        of owner: ProviderTokenOwner, from old: [UInt8]?, to new: [UInt8], lifetime: Duration
    ) async throws(RedisError) -> SwapReply {
        let milliseconds = Array("\(lifetime.wholeMilliseconds)".utf8)
        let answer = try await run(
            .compareAndSet, [Array(FarmKeys.provider(owner).utf8), old ?? [], new, milliseconds])
        guard let parts = answer.array, parts.first?.integer != 1 else { return .put }
        return .stored(parts.last?.bytes ?? [])
    }

    /// Notes that a gateway refused the provider token of that time; an older refusal changes nothing.
    ///
    /// - Parameters:
    ///   - issuedAt: seconds since 1970.
    ///   - lifetime: longer than a provider token is shared.
    package func refuseProviderToken(
        of owner: ProviderTokenOwner, issuedAt: Int64, by gateway: String, lifetime: Duration
    ) async throws(RedisError) {
        let key = FarmKeys.refusedProvider(owner)
        _ = try await connection.call(RESPCommand("ZADD", key, "GT", "\(issuedAt)", gateway))
        _ = try await connection.call(RESPCommand("EXPIRE", key, "\(lifetime.components.seconds)"))
    }

    /// The time of the newest of these provider tokens that the gateway has refused, in seconds since 1970.
    package func refusedProviderToken(
        of owner: ProviderTokenOwner, by gateway: String
    ) async throws(RedisError) -> Int64? {
        let score = try await connection.call(
            RESPCommand("ZSCORE", FarmKeys.refusedProvider(owner), gateway))
        return score.text.flatMap { Int64(foreign: $0) }
    }

    /// Sends a command to every coordinator that listens on ``FarmKeys/commands``.
    /// - Returns: how many heard it.
    package func announce(_ command: [UInt8]) async throws(RedisError) -> Int {
        Int(try await connection.call(publication(of: command)).integer ?? 0)
    }

    /// As above, without waiting: after a lost message others notice the change at their next regular check.
    package func send(_ command: String) {
        connection.send(publication(of: Array(command.utf8))) { _ in }
    }

    private func publication(of command: [UInt8]) -> RESPCommand {
        var publish = RESPCommand("PUBLISH", FarmKeys.commands)
        publish.append(command)
        return publish
    }

    /// What INFO says.
    package func info() async throws(RedisError) -> RedisInfo {
        RedisInfo(try await connection.call(RESPCommand("INFO")).text ?? "")
    }

    /// What INFO says about memory.
    package func memory() async throws(RedisError) -> RedisInfo {
        RedisInfo(try await connection.call(RESPCommand("INFO", "memory")).text ?? "")
    }

    func run(_ script: Script, keys: Int, _ words: [String]) async throws(RedisError) -> RESPValue {
        try await run(script, keys: keys, words.map { Array($0.utf8) })
    }

    /// - Parameter arguments: the keys, then the others.
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

/// The configuration asks for another number of shards than the farm was started with.
package struct FarmMismatch: Error, Equatable, CustomStringConvertible {
    package let configured: Int
    package let fixed: Int

    package var description: String {
        "the configuration says \(configured) shards, but this farm was started with \(fixed): the number cannot change"
    }
}
