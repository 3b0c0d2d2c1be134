package import EventLoop
import RedisProtocol
package import Registry
package import StoreProtocol

/// Reads the stored devices of one app, with plain read commands only, so that a Redis user without scripts can read.
///
/// Readers do not lock the registry. If a device is registered, changed or removed during a read, the result may show
/// the device as it was before or after.
@Loop package final class RegistryReader {
    package let app: String
    let keys: RegistryKeys
    private let connection: RedisConnection
    /// The dictionaries that were already read, by partition. Names are only added to a dictionary, so the names in
    /// an old dictionary stay correct.
    private var names: [Int: AttributeNames] = [:]

    private init(app: String, keys: RegistryKeys, connection: RedisConnection) {
        (self.app, self.keys, self.connection) = (app, keys, connection)
    }

    /// Creates a reader for the app's registry, which may be empty.
    package static func open(
        app: String, connection: RedisConnection
    ) async throws(StoreError) -> RegistryReader {
        var command = RESPCommand("HGET")
        command.append(Keys(app: app).registry)
        command.append("partitions")
        let value: RESPValue
        do { value = try await connection.call(command) } catch { throw .redis(error) }
        guard !value.isNull else {
            return RegistryReader(app: app, keys: RegistryKeys(app: app), connection: connection)
        }
        guard let count = value.text.flatMap({ Int(foreign: $0) }),
            RegistryKeys.validPartitions.contains(count)
        else { throw .unexpectedReply("the number of partitions in \(app)'s registry is not valid") }
        return RegistryReader(
            app: app, keys: RegistryKeys(app: app, partitions: count), connection: connection)
    }

    /// Reads counts and dictionaries of all partitions, in the order of the partitions.
    package func partitions() async throws(StoreError) -> [PartitionState] {
        var states: [PartitionState] = []
        for partition in 0..<keys.count { states.append(try await state(of: partition)) }
        return states
    }

    /// Reads counts and dictionary of a partition.
    func state(of partition: Int) async throws(StoreError) -> PartitionState {
        let replies = try await replies([
            command("HGETALL", .meta, in: partition), command("HGETALL", .names, in: partition),
        ])
        guard let state = PartitionState(meta: replies[0], names: replies[1]) else {
            throw unreadable(.meta, in: partition)
        }
        names[partition] = state.names
        return state
    }

    /// The dictionary of a partition. Reads it from Redis if this reader has no dictionary of the partition, or only
    /// the dictionary `known`.
    /// - Parameter known: a dictionary that lacks a name that the caller needs; nil if an old dictionary is sufficient.
    func names(of partition: Int, newerThan known: AttributeNames? = nil) async throws(StoreError)
        -> AttributeNames
    {
        if let names = names[partition], names != known { return names }
        return try await state(of: partition).names
    }

    /// Sends commands in one pipeline and waits for all replies, in the order of the commands.
    /// - Throws: the first error; an error reply of Redis counts as an error.
    func replies(_ commands: [RESPCommand]) async throws(StoreError) -> [RESPValue] {
        var replies: [RESPValue] = []
        replies.reserveCapacity(commands.count)
        for result in await send(commands) {
            do { replies.append(try result.get()) } catch { throw .redis(error) }
        }
        return replies
    }

    /// Sends commands in one pipeline and waits for all replies, in the order of the commands.
    /// - Returns: nil for a command that Redis refused, for example because its key has the wrong type.
    func results(_ commands: [RESPCommand]) async throws(StoreError) -> [RESPValue?] {
        var replies: [RESPValue?] = []
        for result in await send(commands) {
            do { replies.append(try result.get()) } catch {
                guard case .refused = error else { throw .redis(error) }
                replies.append(nil)
            }
        }
        return replies
    }

    private func send(_ commands: [RESPCommand]) async -> [Result<RESPValue, RedisError>] {
        guard !commands.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            var results: [Result<RESPValue, RedisError>] = []
            results.reserveCapacity(commands.count)
            for command in commands {
                connection.send(command) { result in
                    results.append(result)
                    if results.count == commands.count { continuation.resume(returning: results) }
                }
            }
        }
    }

    func command(
        _ name: String, _ key: RegistryKey, in partition: Int, _ words: String...
    ) -> RESPCommand {
        var command = RESPCommand(name)
        command.append(key.key(keys.keys(ofPartition: partition)))
        for word in words { command.append(word) }
        return command
    }

    /// The keys of a partition, for requests.
    func store(ofPartition partition: Int) -> AppRedis {
        AppRedis(keys: keys.keys(ofPartition: partition), connection: connection)
    }

    /// The time of Redis's clock in Unix seconds.
    var now: Int64 { connection.clock.seconds }

    func unreadable(_ key: RegistryKey, in partition: Int) -> StoreError {
        .unexpectedReply(String(decoding: key.key(keys.keys(ofPartition: partition)), as: UTF8.self))
    }
}
