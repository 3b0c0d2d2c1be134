import EventLoop
import StoreProtocol

/// Looks every few seconds at what waits of the apps whose intake is this host's: so each app is looked at by one host.
@Loop final class BacklogMonitor {
    /// What Redis last said of an app. Without an answer the last one holds, as long as the app is ours.
    struct Reading {
        var backlog: BacklogReading?
        /// Keys of the wrong type, and what cannot be read.
        var faults: ReadFaults.Reply?
        /// What the guard has counted, and how many suppressions wait until they are confirmed.
        var guarded: (counts: ReadGuard.Reply, waiting: Int)?
    }

    private(set) var readings: [String: Reading] = [:]

    /// Between two readings of an app.
    static let interval = Duration.seconds(5)

    /// - Parameter isFirstHost: also reads apps whose leases Redis refuses to every host.
    func update(of apps: some Sequence<HostedApp>, isFirstHost: Bool) async {
        var next: [String: Reading] = [:]
        for app in apps where app.isWatched(isFirstHost: isFirstHost) {
            var reading = readings[app.name] ?? Reading()
            if let backlog = try? await Self.read(app) { reading.backlog = backlog }
            if let faults = try? await app.store.perform(ReadFaults(shards: app.context.shards)) {
                reading.faults = faults
            }
            if let counts = try? await app.store.perform(ReadGuard()),
                let waiting = try? await app.store.perform(CountUnconfirmed())
            {
                reading.guarded = (counts, waiting)
            }
            next[app.name] = reading
            await app.applyUnconfirmed()
        }
        readings = next
    }

    private static func read(_ app: HostedApp) async throws(StoreError) -> BacklogReading {
        let shards = app.context.shards
        let refusals = try await app.store.perform(ReadRefusals())
        return BacklogReading(
            depths: try await app.store.perform(ReadDepths(shards: shards)),
            ages: try await app.store.perform(ReadAges(shards: shards)), refusals: refusals,
            refusedLastMinute: refusals.lastMinute(at: app.context.clock.milliseconds))
    }
}

/// What waits of an app, as Redis last said to the host that has its intake.
struct BacklogReading {
    var depths: ReadDepths.Reply
    var ages: ReadAges.Reply
    var refusals: ReadRefusals.Reply
    /// Refused jobs.
    var refusedLastMinute: Int
}
