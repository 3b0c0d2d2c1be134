import EventLoop
import StoreProtocol

/// Looks every few seconds at what waits of the apps whose intake is this host's: so each app is looked at by one host.
@Loop final class BacklogMonitor {
    private(set) var readings: [String: BacklogReading] = [:]
    /// Keys of the wrong type, and what cannot be read.
    private(set) var faults: [String: ReadFaults.Reply] = [:]
    /// What the guard has counted, and how many suppressions wait until they are confirmed.
    private(set) var guards: [String: (counts: ReadGuard.Reply, waiting: Int)] = [:]

    /// Between two readings of an app.
    static let interval = Duration.seconds(5)

    /// - Parameter isFirstHost: also reads apps whose leases Redis refuses to every host.
    func update(of apps: some Sequence<HostedApp>, isFirstHost: Bool) async {
        var next: [String: BacklogReading] = [:]
        var nextFaults: [String: ReadFaults.Reply] = [:]
        var nextGuards: [String: (counts: ReadGuard.Reply, waiting: Int)] = [:]
        for app in apps where app.isWatched(isFirstHost: isFirstHost) {
            // Without an answer the last one holds, as long as the app is ours.
            next[app.name] = await Self.read(app) ?? readings[app.name]
            let found = try? await app.store.perform(ReadFaults(shards: app.context.shards))
            nextFaults[app.name] = found ?? faults[app.name]
            if let counts = try? await app.store.perform(ReadGuard()),
                let waiting = try? await app.store.perform(CountUnconfirmed())
            {
                nextGuards[app.name] = (counts, waiting)
            } else {
                nextGuards[app.name] = guards[app.name]
            }
            await app.applyUnconfirmed()
        }
        (readings, faults, guards) = (next, nextFaults, nextGuards)
    }

    private static func read(_ app: HostedApp) async -> BacklogReading? {
        let shards = app.context.shards
        do throws(StoreError) {
            let refusals = try await app.store.perform(ReadRefusals())
            return BacklogReading(
                depths: try await app.store.perform(ReadDepths(shards: shards)),
                ages: try await app.store.perform(ReadAges(shards: shards)), refusals: refusals,
                refusedLastMinute: refusals.lastMinute(at: app.context.clock.milliseconds))
        } catch { return nil }
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
