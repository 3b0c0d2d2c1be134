import EventLoop
import PushModel
import StoreProtocol

/// Pauses and resumes an app for an operator.
@Loop struct AppHold {
    let client: FarmClient
    var isDryRun = false

    func pause(
        _ app: String, reason: String
    ) async throws(CommandFailure) -> ChangeReport.Line {
        let by = OperatorName.current
        var pause = try await client.call(ReadStanding(), app).pause
        // What the farm itself has paused becomes the operator's.
        var changed = pause?.by == nil
        if changed, !isDryRun {
            let text = "by operator \(by)" + (reason.isEmpty ? "" : ": \(reason)")
            changed = try await client.call(Pause(reason: text, by: by), app)
            pause = try await client.call(ReadStanding(), app).pause
        }
        return ChangeReport.Line(
            app: app, changed: changed,
            text: changed ? "is paused" : "was paused already, \(pause?.reason ?? "")",
            more: [.init(name: "reason", value: .text(pause?.reason))])
    }

    func resume(_ app: String) async throws(CommandFailure) -> ChangeReport.Line {
        var changed = try await client.call(ReadStanding(), app).pause != nil
        if !isDryRun { changed = try await client.call(Resume(), app) == .resumed }
        let shards = try await client.marks(.shards, app).map { "\($0.shardNumber)" }
        var rest =
            shards.isEmpty
            ? "" : "; shards still paused, resume them with --shard: \(shards.joined(separator: ", "))"
        let jobs = try await client.marks(.jobs, app).filter { $0.kind == "pause" }
        if let first = jobs.first {
            let others = jobs.count > 1 ? " and \(jobs.count - 1) more" : ""
            rest +=
                "; jobs still paused, resume them by name: \(PlainText.of(first.text, limit: 40))\(others)"
        }
        return ChangeReport.Line(
            app: app, changed: changed, text: (changed ? "is resumed" : "was not paused") + rest)
    }
}

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
