import EventLoop
import StoreProtocol

/// Pauses an app for an operator, and lets it go on.
@Loop struct AppHold {
    let client: FarmClient
    var isDryRun = false

    func hold(
        _ app: String, _ kind: Hold.Kind, reason: String
    ) async throws(CommandFailure) -> ChangeReport.Line {
        let by = OperatorName.current
        let past = kind == .pause ? "paused" : "quarantined"
        var pause = try await client.call(ReadStanding(), app).pause
        // What the farm itself has paused becomes the operator's.
        var changed = pause?.by == nil
        if changed, !isDryRun {
            let words = (kind == .pause ? "by operator \(by)" : "\(Self.quarantined) by \(by)")
            let text = words + (reason.isEmpty ? "" : ": \(reason)")
            changed = try await client.call(Pause(reason: text, by: by), app)
            pause = try await client.call(ReadStanding(), app).pause
        }
        return ChangeReport.Line(
            app: app, changed: changed,
            text: changed ? "is \(past)" : "was paused already, \(pause?.reason ?? "")",
            more: [.init(name: "reason", value: .text(pause?.reason))])
    }

    func resume(_ app: String) async throws(CommandFailure) -> ChangeReport.Line {
        var changed = try await client.call(ReadStanding(), app).pause != nil
        if !isDryRun { changed = try await client.call(Resume(), app) == .resumed }
        let shards = try await client.marks(.shards, app).map { "\($0.shardNumber)" }
        var rest =
            shards.isEmpty
            ? "" : "; not served, and let go on with --shard: \(shards.joined(separator: ", "))"
        let jobs = try await client.marks(.jobs, app).filter { $0.kind == "pause" }
        if let first = jobs.first {
            let others = jobs.count > 1 ? " and \(jobs.count - 1) more" : ""
            rest += "; paused, and resumed each by its name: \(PlainText.of(first.text, limit: 40))\(others)"
        }
        return ChangeReport.Line(
            app: app, changed: changed, text: (changed ? "goes on" : "was not paused") + rest)
    }

    /// Lets it go on if it is in quarantine; one that is paused stays so.
    func release(_ app: String) async throws(CommandFailure) -> Bool {
        guard let pause = try await client.call(ReadStanding(), app).pause, Self.isQuarantine(pause) else {
            return false
        }
        return try await resume(app).changed
    }

    /// An operator has put the app aside, and not only paused it.
    nonisolated static func isQuarantine(_ pause: ReadGate.Pause) -> Bool {
        pause.by != nil && pause.reason.hasPrefix(quarantined)
    }

    /// How the reason of a quarantine begins.
    nonisolated private static let quarantined = "quarantined"
}
