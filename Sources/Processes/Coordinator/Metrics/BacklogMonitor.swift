import EventLoop
import StoreProtocol

/// Reads the backlog of each app whose intake this host has, every few seconds. So only one host reads each app.
@Loop final class BacklogMonitor {
    /// An app's last reading. It stays valid while Redis does not reply, as long as this host has the app.
    struct Reading {
        var backlog: BacklogReading?
        /// Keys of the wrong type, and entries that cannot be read.
        var faults: ReadFaults.Reply?
        /// The guard's counts, and the number of suppressions that await confirmation.
        var guarded: (counts: ReadGuard.Reply, waiting: Int)?
    }

    private(set) var readings: [String: Reading] = [:]

    /// The time between two readings of an app.
    static let interval = Duration.seconds(5)

    /// - Parameter isFirstHost: whether to read also apps whose leases Redis refuses to every host.
    func update(of apps: some Sequence<HostedApp>, isFirstHost: Bool) async {
        var next: [String: Reading] = [:]
        for app in apps where app.isWatched(isFirstHost: isFirstHost) {
            // After an error, the part of the earlier reading stays until the next round.
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

/// An app's backlog, as Redis last reported it to the host that has the intake.
struct BacklogReading {
    var depths: ReadDepths.Reply
    var ages: ReadAges.Reply
    var refusals: ReadRefusals.Reply
    /// Jobs that were refused in the last minute.
    var refusedLastMinute: Int
}
