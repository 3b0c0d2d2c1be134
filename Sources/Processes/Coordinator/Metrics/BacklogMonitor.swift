import EventLoop
import StoreProtocol

/// Reads, every few seconds, the backlog of each app whose intake is on this host. An app's intake is on one host, so
/// only one host reads an app's backlog.
@Loop final class BacklogMonitor {
    /// The results of the last reading of an app's backlog. They are kept while Redis does not reply.
    struct Reading {
        var backlog: BacklogReading?
        /// Redis keys of the wrong type, and stored entries that cannot be read.
        var faults: FindDamage.Reply?
        /// The counts of the app's guard, and in `waiting` the number of suppressions that await confirmation; nil
        /// before the first reading.
        var guarded: (counts: ReadGuard.Reply, waiting: Int)?
        /// The campaigns that the farm paused because too many of their pushes failed; nil before the first reading.
        var stoppedCampaigns: [ReadPauses.Item]?
    }

    private(set) var readings: [String: Reading] = [:]

    /// The time between two readings of an app's backlog.
    static let interval = Duration.seconds(5)

    /// - Parameter isFirstHost: whether this host is the first live host. Only the first live host reads the backlogs
    ///   of apps whose leases Redis refuses to all hosts.
    func update(of apps: some Sequence<HostedApp>, isFirstHost: Bool) async {
        var next: [String: Reading] = [:]
        for app in apps where app.isWatched(isFirstHost: isFirstHost) {
            // If a request below fails, the values that it would replace stay until the next call.
            var reading = readings[app.name] ?? Reading()
            if let backlog = try? await Self.read(app) { reading.backlog = backlog }
            if let faults = try? await app.store.perform(FindDamage(shards: app.context.shards)) {
                reading.faults = faults
            }
            if let counts = try? await app.store.perform(ReadGuard()),
                let waiting = try? await app.store.perform(CountUnconfirmed())
            {
                reading.guarded = (counts, waiting)
            }
            let pauses = ReadPauses(.jobs)
            if let reply = try? await app.store.perform(pauses) {
                reading.stoppedCampaigns = pauses.pauses(reply).filter(\.isStoppedCampaign)
            }
            next[app.name] = reading
            await app.applyUnconfirmed()
        }
        readings = next
    }

    private static func read(_ app: HostedApp) async throws(StoreError) -> BacklogReading {
        let shards = app.context.shards
        let refusals = try await app.store.perform(ReadRefusals())
        var waitingInputs: [InputList: Int] = [:]
        for list in InputList.allCases {
            waitingInputs[list] = try await app.store.perform(CountInputs(list))
        }
        return BacklogReading(
            depths: try await app.store.perform(ReadDepths(shards: shards)),
            ages: try await app.store.perform(ReadAges(shards: shards)), refusals: refusals,
            refusedLastMinute: refusals.lastMinute(at: app.context.clock.milliseconds),
            waitingInputs: waitingInputs)
    }
}

/// An app's backlog, as the host with the app's intake last read it from Redis.
struct BacklogReading {
    var depths: ReadDepths.Reply
    var ages: ReadAges.Reply
    var refusals: ReadRefusals.Reply
    /// The number of jobs that were refused in the last minute.
    var refusedLastMinute: Int
    /// The numbers of inputs that wait in the lists of producers.
    var waitingInputs: [InputList: Int]
}
