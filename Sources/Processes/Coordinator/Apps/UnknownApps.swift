import EventLoop
import FarmPolicy
import Logging
import PushModel
import RedisClient
import StoreProtocol

/// Finds inboxes of apps that no coordinator configures, and makes Redis refuse jobs for removed apps.
@Loop final class UnknownApps {
    private unowned let context: HostContext
    private lazy var search = InboxSearch(context.registry, log: context.log)
    /// Apps that were removed from this host's configuration since the start, and that Redis still knows.
    private var removedApps: Set<String> = []

    /// How long no host must have configured an app before the app is removed from Redis. The time is long, because the
    /// app's hosts may be switched off for a while.
    private static let silence = Duration.seconds(86_400)

    init(_ context: HostContext) { self.context = context }

    /// Inboxes that contain jobs of unknown apps. Only the first live host searches for these inboxes.
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

    /// Removes apps that no coordinator configures from Redis. Redis then refuses jobs for these apps. Call this
    /// function every few seconds.
    func forgetApps() async {
        guard context.lifecycle.actsForHost else { return }
        do throws(RedisError) {
            let others = try await context.registry.hosts().filter { $0.name != context.host }
            let own = context.configuration.apps.map(\.name)
            let served = Set(others.flatMap(\.apps)).union(own)
            removedApps.subtract(own)
            for name in removedApps where !served.contains(name) {
                // A heartbeat in progress may register the app again, so removal repeats until Redis does not know
                // the app.
                if await forget(name, after: .zero) == false { removedApps.remove(name) }
            }
            guard context.registration.isFirstHost else { return }
            for name in try await context.registry.apps() where !served.contains(name) {
                _ = await forget(name, after: Self.silence)
            }
        } catch {
            // After an error, the next call tries again a few seconds later.
        }
    }

    /// - Returns: whether Redis knew the app before the call; nil if Redis did not reply.
    private func forget(_ name: String, after silence: Duration) async -> Bool? {
        let store = AppStore(app: name, connection: context.redis)
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
    private let registry: FarmRegistry
    private let log: Logger
    private var inboxes = StrayInboxes()
    private var cursor = "0"
    /// When to search again after Redis refused a search; nil if Redis did not refuse the last search.
    private var nextSearch: ContinuousClock.Instant?

    /// The number of keys that are scanned per second.
    private static let keys = 500
    /// The delay after a refusal. During the delay, an operator may give the Redis user the right to scan.
    private static let pause = Duration.seconds(60)

    init(_ registry: FarmRegistry, log: Logger) { (self.registry, self.log) = (registry, log) }

    /// The inboxes that contain jobs and were first found at least ten seconds ago.
    var found: [StrayInboxes.Inbox] { inboxes.reported(at: .now) }

    /// Forgets all found inboxes, because another host searches now.
    func pause() {
        inboxes.removeAll()
        cursor = "0"
    }

    /// Scans the next part of the keys. Call it once a second.
    func search(configured: Set<String>) async {
        if let nextSearch, nextSearch > .now { return }
        do throws(RedisError) {
            let page = try await registry.inboxes(from: cursor, count: Self.keys)
            cursor = page.next
            inboxes.observe(page.names, configured: configured, at: .now)
            for name in inboxes.names {
                inboxes.count(name, jobs: try await registry.inboxLength(name))
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
