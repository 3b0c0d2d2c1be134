import EventLoop
import FarmPolicy
import Logging
import PushModel
import RedisClient
import StoreProtocol

/// Finds inboxes of apps that no host has configured. Removes these apps from Redis, so that Redis refuses jobs for
/// them.
@Loop final class UnknownApps {
    private unowned let context: HostContext
    private lazy var search = InboxSearch(context.farmRedis, log: context.log)
    /// Apps that operators have removed from this host's configuration since the start, and that are not removed from
    /// Redis yet.
    private var removedApps: Set<String> = []

    /// An app is removed from Redis when no host has had the app in its configuration for this time. The time is long,
    /// because all hosts of an app may be switched off for a while.
    private static let silence = Duration.seconds(86_400)

    init(_ context: HostContext) { self.context = context }

    /// Inboxes that contain jobs of unknown apps; empty on all hosts except the first live host, which searches for
    /// them.
    var strayInboxes: [StrayInboxes.Inbox] { search.found }

    var alertObservation: AlertEvaluator.Observation {
        InboxSearch.text(search.found, apps: configuredApps.sorted()).map { .bad(level: 1, text: $0) }
            ?? .good
    }

    /// Apps that this host, a live host, or a host lost within the last hour has configured.
    private var configuredApps: Set<String> {
        Set(context.configuration.apps.map(\.name)).union(
            context.registration.membership.hosts.flatMap(\.apps)
        )
        .union(context.missingHosts.lostApps)
    }

    func noteRemoval(of apps: [String]) { removedApps.formUnion(apps) }

    /// Searches for inboxes of unknown apps. Call it once a second.
    func searchInboxes() async {
        guard context.registration.isFirstHost, context.lifecycle.actsForHost else { return search.pause() }
        await search.search(configured: configuredApps)
    }

    /// Removes from Redis the apps that no host has configured. Redis then refuses jobs for these apps. Call this
    /// function every few seconds.
    func forgetApps() async {
        guard context.lifecycle.actsForHost else { return }
        do throws(RedisError) {
            let others = try await context.farmRedis.hosts().filter { $0.name != context.host }
            let own = context.configuration.apps.map(\.name)
            let served = Set(others.flatMap(\.apps)).union(own)
            removedApps.subtract(own)
            for name in removedApps where !served.contains(name) {
                // A heartbeat that this host sent before may register the app again. So the removal is repeated until
                // Redis no longer knows the app.
                if await forget(name, after: .zero) == false { removedApps.remove(name) }
            }
            guard context.registration.isFirstHost else { return }
            for name in try await context.farmRedis.apps() where !served.contains(name) {
                _ = await forget(name, after: Self.silence)
            }
        } catch {
            // After an error, the next call tries again a few seconds later.
        }
    }

    /// - Returns: whether Redis knew the app before the call; nil if Redis did not reply.
    private func forget(_ name: String, after silence: Duration) async -> Bool? {
        let store = AppRedis(app: name, connection: context.redis)
        guard let wasKnown = try? await store.perform(ForgetApp(silence: silence)) else { return nil }
        if wasKnown {
            context.log.notice(
                "app removed: no host has configured the app, and its producers are refused",
                metadata: ["app": "\(name)"])
        }
        return wasKnown
    }
}

/// Searches for inboxes of apps that no host has configured. Each second, the search scans a part of Redis's keys.
@Loop final class InboxSearch {
    private let farmRedis: FarmRedis
    private let log: Logger
    private var inboxes = StrayInboxes()
    private var cursor = "0"
    /// When to search again if Redis has refused the last search; otherwise nil.
    private var nextSearch: ContinuousClock.Instant?

    /// The number of keys that are scanned per second.
    private static let keys = 500
    /// How long to wait after Redis has refused a search. Redis refuses until an operator gives the Redis user the
    /// right to scan.
    private static let pause = Duration.seconds(60)

    init(_ farmRedis: FarmRedis, log: Logger) { (self.farmRedis, self.log) = (farmRedis, log) }

    /// The inboxes that contain jobs and were first found at least ten seconds ago.
    var found: [StrayInboxes.Inbox] { inboxes.reported(at: .now) }

    /// Forgets all found inboxes, because this host no longer searches.
    func pause() {
        inboxes.removeAll()
        cursor = "0"
    }

    /// Scans the next part of the keys. Call it once a second.
    func search(configured: Set<String>) async {
        if let nextSearch, nextSearch > .now { return }
        do throws(RedisError) {
            let page = try await farmRedis.inboxes(from: cursor, count: Self.keys)
            cursor = page.next
            inboxes.observe(page.names, configured: configured, at: .now)
            for name in inboxes.names {
                inboxes.count(name, jobs: try await farmRedis.inboxLength(name))
            }
            nextSearch = nil
        } catch {
            // The next scan is in a second, or in a minute if the Redis user may not scan.
            guard error.isRefusal else { return }
            defer { nextSearch = .now + Self.pause }
            guard nextSearch == nil else { return }
            log.warning(
                "cannot search for inboxes of unknown apps: the farm's Redis user needs +scan", error: error)
        }
    }

    /// Describes the found inboxes for operators; nil if no inbox was found.
    static func text(_ found: [StrayInboxes.Inbox], apps: [String]) -> String? {
        guard let first = found.first else { return nil }
        let name = Excerpt.of(first.name)
        let jobs = first.jobs == 1 ? "1 job" : "\(first.jobs) jobs"
        let meant = NearestWord.find(first.name, among: apps).map { "; did you mean \"\($0)\"?" } ?? ""
        let others = found.count == 1 ? "" : " (and \(found.count - 1) more such inboxes)"
        return
            "inbox pushfarm:\(name) holds \(jobs), and no running coordinator has an app \"\(name)\"\(meant)\(others)"
    }
}
