import EventLoop
import StoreProtocol

/// Pauses and resumes a shard of an app.
@Loop struct ShardHold {
    let client: FarmClient
    var isDryRun = false

    func pause(
        _ app: String, _ shard: Int, reason: String
    ) async throws(CommandFailure) -> ChangeReport.Line {
        try await check(shard)
        let old = try await client.marks(.shards, app).first { Int(foreign: $0.text) == shard }
        var changed = old == nil
        if !isDryRun {
            let hold = Hold(.shard(shard, .pause), by: OperatorName.current, reason: reason)
            changed = try await client.call(hold, app).hasChanged
        }
        let text =
            changed ? "is paused" : "was paused already, by \(old?.by ?? "another user")"
        return .init(app: app, shard: shard, changed: changed, text: text)
    }

    func resume(_ app: String, _ shard: Int) async throws(CommandFailure) -> ChangeReport.Line {
        try await check(shard)
        var changed = try await client.marks(.shards, app).contains { Int(foreign: $0.text) == shard }
        if !isDryRun { changed = try await client.call(Hold(.serve(shard), by: ""), app).hasChanged }
        return .init(
            app: app, shard: shard, changed: changed, text: changed ? "is resumed" : "was not paused"
        )
    }

    private func check(_ shard: Int) async throws(CommandFailure) {
        let count = try await client.shards()
        guard shard < count else { throw .usage("the farm has \(count) shards: 0 to \(count - 1)") }
    }
}
