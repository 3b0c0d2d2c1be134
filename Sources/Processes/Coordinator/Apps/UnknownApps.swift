import EventLoop
import FarmPolicy
import Logging
import RedisClient
import StoreProtocol

/// Apps that no coordinator configures: finds their inboxes, and lets their producers be refused.
@Loop final class UnknownApps {
    private let context: HostContext
    private let registration: HostRegistration
    private let missingHosts: MissingHosts
    private let search: InboxSearch
    /// Apps that were removed from this configuration since the start, until they are forgotten.
    private var removedApps: Set<String> = []

    /// An app that no coordinator has configured for so long is forgotten, though hosts that have it may only be off.
    private static let silence = Duration.seconds(86_400)

    init(_ context: HostContext, _ registration: HostRegistration, _ missingHosts: MissingHosts) {
        (self.context, self.registration, self.missingHosts) = (context, registration, missingHosts)
        search = InboxSearch(context.registry, log: context.log)
    }

    /// Inboxes of unknown apps that hold jobs, as the first host sees them.
    var strayInboxes: [StrayInboxes.Inbox] { search.found }

    var alertObservation: AlertEvaluator.Observation {
        InboxSearch.text(search.found, apps: configuredApps.sorted()).map { .bad(level: 1, text: $0) }
            ?? .good
    }

    /// Apps of this configuration, of the living hosts, and of those that were lost within the last hour.
    private var configuredApps: Set<String> {
        Set(context.configuration.apps.map(\.name)).union(registration.membership.hosts.flatMap(\.apps))
            .union(missingHosts.lostApps)
    }

    func noteRemoval(of apps: [String]) { removedApps.formUnion(apps) }

    /// To be called once a second.
    func searchInboxes() async {
        guard registration.isFirstHost, context.lifecycle.actsForHost else { return search.pause() }
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
            guard registration.isFirstHost else { return }
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
