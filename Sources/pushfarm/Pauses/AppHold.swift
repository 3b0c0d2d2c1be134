import EventLoop
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
