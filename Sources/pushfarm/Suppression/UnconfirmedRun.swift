import EventLoop
import StoreProtocol

/// Applies or drops the suppressions that the guard keeps, in portions.
@Loop struct UnconfirmedRun {
    let client: FarmClient
    let app: String

    /// - Parameter isDry: nothing is done.
    /// - Returns: how many were, or would be, applied or dropped.
    func perform(_ step: SettleUnconfirmed.Step, isDry: Bool) async throws(CommandFailure) -> Int {
        try await client.mustHave(app: app)
        var left = try await client.call(CountUnconfirmed(), app)
        if isDry { return left }
        let shards = try await client.ask { registry throws(RedisError) in try await registry.fixedShards() }
        let limit =
            client.configuration.app(named: app)?.suppressionLimit(
                shards: shards ?? client.configuration.shards) ?? Retention().suppressed
        var done = 0
        // What is found meanwhile waits for the next time.
        repeat {
            let reply = try await client.call(
                SettleUnconfirmed(step, limit: limit, most: min(500, max(1, left))), app)
            done += reply.done
            left -= reply.done
            if reply.done == 0 { break }
        } while left > 0
        return done
    }
}
