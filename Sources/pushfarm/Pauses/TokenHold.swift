import EventLoop
import PushModel
import StoreProtocol

/// Pauses and resumes the pushes to one device token.
@Loop struct TokenHold {
    let client: FarmClient
    var isDryRun = false

    func pause(
        _ text: String, _ app: String, reason: String
    ) async throws(CommandFailure) -> ChangeReport.Line {
        let token = try OperatorText.token(text)
        let shards = try await client.shards()
        let shard = token.withUnsafeBytes { ShardHash.shard(of: $0, shards: shards) }
        var changed = try await !isPaused(token, app)
        if changed, !isDryRun {
            let hold = Hold(.device(token, shard: shard), by: OperatorName.current, reason: reason)
            let reply = try await client.call(hold, app)
            if reply.subject == .full { throw .failed("\(app) has 1000 paused tokens already") }
            changed = reply.hasChanged
        }
        return .init(
            app: app, token: text.lowercased(), changed: changed,
            text: changed ? "is paused" : "was paused already")
    }

    func resume(_ text: String, _ app: String) async throws(CommandFailure) -> ChangeReport.Line {
        let token = try OperatorText.token(text)
        let changed = try await isPaused(token, app)
        var batches = 0
        if !isDryRun { batches = try await client.release(.device(token), app).batches }
        return .init(
            app: app, token: text.lowercased(), changed: changed,
            text: changed ? "is resumed" : "was not paused",
            more: [.init(name: "batches", value: .number(batches))])
    }

    private func isPaused(_ token: [UInt8], _ app: String) async throws(CommandFailure) -> Bool {
        try await client.marks(.devices, app).contains { $0.name == token }
    }
}
