import EventLoop
import StoreProtocol

/// Returns to the queues what the farm has quarantined: jobs and batches that crashed workers, and shards that wait after
/// crashes.
@Loop struct QuarantineRelease {
    let client: FarmClient
    var isDryRun = false

    /// All of an app's quarantined jobs and batches.
    func release(app: String) async throws(CommandFailure) -> ChangeReport.Line {
        let jobs = try await client.marks(.jobs, app).filter { $0.kind != "pause" }
        if isDryRun { return line(app, jobs: jobs.count, tokens: 0, batches: 0) }
        let released = try await client.release(.all, app)
        return line(app, jobs: released.jobs, tokens: released.devices, batches: released.batches)
    }

    /// One job, or its quarantined batches.
    func release(job: String, app: String) async throws(CommandFailure) -> ChangeReport.Line {
        let mark = try await JobHold(client: client).mark(of: job, app)
        guard mark?.kind != "pause" else {
            throw .failed(
                "job \(job) of \(app) is paused, not quarantined: pushfarm resume --job \(job) --app \(app)")
        }
        var batches = 0
        if !isDryRun { batches = try await client.release(.job(job), app).batches }
        let changed = mark != nil || batches > 0
        return .init(
            app: app, job: job, changed: changed, text: changed ? "is resumed" : "was not quarantined",
            more: [.init(name: "batches", value: .number(batches))])
    }

    /// Has the coordinators serve the shards again that they quarantined.
    func releaseShards() async throws(CommandFailure) {
        guard !isDryRun else { return }
        _ = try await client.ask { registry throws(RedisError) in
            try await registry.announce(Array(HostCommand.release.text.utf8))
        }
        try await client.announceChange()
    }

    private func line(_ app: String, jobs: Int, tokens: Int, batches: Int) -> ChangeReport.Line {
        let parts = [(jobs, "job", "jobs"), (tokens, "token", "tokens"), (batches, "batch", "batches")]
            .filter { $0.0 > 0 }.map { Figures.counted($0.0, $0.1, $0.2) }
        return .init(
            app: app, changed: !parts.isEmpty,
            text: parts.isEmpty ? "has nothing in quarantine" : "resumed: " + parts.joined(separator: ", "),
            more: [
                .init(name: "jobs", value: .number(jobs)), .init(name: "tokens", value: .number(tokens)),
                .init(name: "batches", value: .number(batches)),
            ])
    }
}
