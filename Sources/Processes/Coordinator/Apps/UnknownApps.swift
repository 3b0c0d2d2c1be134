import EventLoop
import FarmPolicy
import Logging
import PushModel
import RedisClient
import StoreProtocol

/// Apps that no coordinator configures: finds their inboxes, and lets their producers be refused.
@Loop final class UnknownApps {
    private unowned let context: HostContext
    private lazy var search = InboxSearch(context.registry, log: context.log)
    /// Apps that were removed from this configuration since the start, until they are forgotten.
    private var removedApps: Set<String> = []

    /// An app that no coordinator has configured for so long is forgotten, though hosts that have it may only be off.
    private static let silence = Duration.seconds(86_400)

    init(_ context: HostContext) { self.context = context }

    /// Inboxes of unknown apps that hold jobs, as the first host sees them.
    var strayInboxes: [StrayInboxes.Inbox] { search.found }

    var alertObservation: AlertEvaluator.Observation {
        InboxSearch.text(search.found, apps: configuredApps.sorted()).map { .bad(level: 1, text: $0) }
            ?? .good
    }

    /// Apps of this configuration, of the living hosts, and of those that were lost within the last hour.
    private var configuredApps: Set<String> {
        Set(context.configuration.apps.map(\.name)).union(
            context.registration.membership.hosts.flatMap(\.apps)
        )
        .union(context.missingHosts.lostApps)
    }

    func noteRemoval(of apps: [String]) { removedApps.formUnion(apps) }

    /// To be called once a second.
    func searchInboxes() async {
        guard context.registration.isFirstHost, context.lifecycle.actsForHost else { return search.pause() }
        await search.search(configured: configuredApps)
    }

    /// Lets producers be refused once no coordinator configures an app any more. To be called every few seconds.
    func forgetApps() async {
        guard context.lifecycle.actsForHost else { return }
        do throws(RedisError) {
            let others = try await context.registry.hosts().filter { $0.name != context.host }
            let own = context.configuration.apps.map(\.name)
            let served = Set(others.flatMap(\.apps)).union(own)
            removedApps.subtract(own)
            for name in removedApps where !served.contains(name) {
                // A heartbeat that was under way may bring it back once: it is looked at again until it stays away.
                if await forget(name, after: .zero) == false { removedApps.remove(name) }
            }
            guard context.registration.isFirstHost else { return }
            for name in try await context.registry.apps() where !served.contains(name) {
                _ = await forget(name, after: Self.silence)
            }
        } catch {
            // The next look is in a few seconds.
        }
    }

    /// - Returns: whether it was known; nil when Redis cannot say now.
    private func forget(_ name: String, after silence: Duration) async -> Bool? {
        let store = AppStore(app: name, connection: context.redis)
        guard let wasKnown = try? await store.perform(ForgetApp(silence: silence)) else { return nil }
        if wasKnown {
            context.log.notice(
                "app removed: no host configures it, and its producers are refused",
                metadata: ["app": "\(name)"])
        }
        return wasKnown
    }
}

/// Looks for inboxes that belong to no configured app: a part of Redis's keys each second, from first to last and again.
@Loop final class InboxSearch {
    private let registry: FarmRegistry
    private let log: Logger
    private var inboxes = StrayInboxes()
    private var cursor = "0"
    /// When to search again after Redis refused the last search.
    private var nextSearch: ContinuousClock.Instant?

    /// Keys that are looked at in a second.
    private static let keys = 500
    /// Its user may be allowed to look meanwhile.
    private static let pause = Duration.seconds(60)

    init(_ registry: FarmRegistry, log: Logger) { (self.registry, self.log) = (registry, log) }

    /// Those to be reported.
    var found: [StrayInboxes.Inbox] { inboxes.reported(at: .now) }

    /// Another host looks.
    func pause() {
        inboxes.removeAll()
        cursor = "0"
    }

    /// To be called once a second.
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
            // The next look is in a second, unless this user may not look.
            guard error.isRefusal else { return }
            defer { nextSearch = .now + Self.pause }
            guard nextSearch == nil else { return }
            log.warning(
                "cannot search for inboxes of unknown apps: the farm's Redis user needs +scan", error: error)
        }
    }

    /// A text for operators; nil when there are no such inboxes.
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
