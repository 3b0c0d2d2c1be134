import EventLoop
import RedisProtocol
import StoreProtocol

@testable import Worker

/// Changes the state of Redis and reads it.
extension SenderFixture {
    func run(_ words: String...) async throws -> RESPValue {
        var command = RESPCommand()
        for word in words { command.append(word) }
        return try await redis.call(command)
    }

    /// Saves the current state of Redis.
    func remember() async throws {
        _ = try await run(
            "EVAL",
            "for _, k in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', k, k, 'DB', 1, 'REPLACE') end",
            "0")
    }

    /// Returns Redis to the saved state, like a restart from a saved file.
    func goBack() async throws {
        _ = try await run(
            "EVAL",
            """
            redis.call('FLUSHDB')
            redis.call('SELECT', 1)
            for _, k in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', k, k, 'DB', 0, 'REPLACE') end
            """, "0")
        sender.reconnected(isOther: true)
    }

    func put(body: [UInt8], of id: String) async throws {
        var command = RESPCommand()
        for word in ["HSET", "{pushfarm:demo}:batches", id] { command.append(word) }
        command.append(body)
        _ = try await redis.call(command)
    }

    /// Another host takes a shard over.
    func takeOver(shard: Int) async throws {
        _ = try await run("HSET", "{pushfarm:demo}:owners", LeaseID.name(ofShard: shard), "9:other:there")
    }

    /// The ids in all lists whose names start with `list`.
    func ids(in list: String) async throws -> [String] {
        var ids: [String] = []
        for key in try await run("KEYS", "{pushfarm:demo}:\(list)*").array ?? [] {
            ids += (try await run("LRANGE", key.text ?? "", "0", "-1").array ?? []).compactMap(\.text)
        }
        return ids
    }
}
