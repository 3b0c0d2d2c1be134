import EventLoop
import RedisProtocol
import StoreProtocol

/// Pushes that may be in the air: what their worker was allowed to send, and has not reported.
@Loop enum Suspects {
    static func count(_ shard: Int, _ app: String, _ client: FarmClient) async throws(CommandFailure) -> Int {
        let keys = Keys(app: app)
        let nn = LeaseField.shard(shard).name
        do {
            var list = RESPCommand("LRANGE")
            list.append(keys.prefix + Array("in_flight:\(nn)".utf8))
            for word in ["0", "-1"] { list.append(word) }
            let ids = (try await client.redis.call(list).array ?? []).compactMap(\.bytes)
            guard !ids.isEmpty else { return 0 }
            var states = RESPCommand("HMGET")
            states.append(keys.states)
            for id in ids { states.append(id) }
            return (try await client.redis.call(states).array ?? []).compactMap(\.text).reduce(0) {
                $0 + count($1)
            }
        } catch {
            throw client.failure(.redis(error))
        }
    }

    /// Of a state, "worker|deliveries|granted|caution|open|map".
    static func count(_ state: String) -> Int {
        let parts = state.split(separator: "|", maxSplits: 5, omittingEmptySubsequences: false)
        guard parts.count == 6, let granted = Int(foreign: parts[2]) else { return 0 }
        return parts[5].prefix(clamping: granted).count { $0 == "." }
    }
}
