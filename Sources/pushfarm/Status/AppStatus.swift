import EventLoop
import FarmStore

/// Where an app's work stands.
struct AppStatus: Sendable {
    let app: String
    /// Nil when it is not paused.
    let pause: ReadGate.Pause?
    /// Nil when producers are welcome.
    let full: ReadFullness.Fullness?
    let depths: ReadDepths.Reply
    let openJobs: Int

    /// Open jobs are looked for among this many of the latest.
    private static let latest = 1000

    @Loop static func read(
        _ app: String, shards: Int, from client: FarmClient
    ) async throws(CommandFailure) -> AppStatus {
        let pause = try await client.call(ReadGate(), app)
        let full = try await client.call(ReadFullness(), app)
        let depths = try await client.call(ReadDepths(shards: shards), app)
        var open = 0
        for id in try await client.call(LatestJobs(count: latest), app) {
            if try await client.account(id, app)?.state == .open { open += 1 }
        }
        return AppStatus(app: app, pause: pause, full: full, depths: depths, openJobs: open)
    }

    /// Batches that wait for a worker.
    var ready: Int { depths.shards.reduce(0) { $0 + $1.high + $1.bulk } }
    /// Batches that a worker has.
    var inFlight: Int { depths.shards.reduce(0) { $0 + $1.flight } }
    /// Jobs that are not split yet.
    var inbox: Int { depths.inbox + depths.taken }

    var json: JSONValue {
        .object([
            "app": .string(app), "state": .string(pause == nil ? "running" : "paused"),
            "paused_reason": .text(pause?.reason), "full_reason": .text(full?.reason.rawValue),
            "open": .number(depths.open), "ready": .number(ready), "in_flight": .number(inFlight),
            "delayed": .number(depths.delayed), "parked": .number(depths.parked),
            "results": .number(depths.results), "inbox": .number(inbox),
            "jobs_open": .number(openJobs),
        ])
    }
}
