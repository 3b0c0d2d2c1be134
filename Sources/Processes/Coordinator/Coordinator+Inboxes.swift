import EventLoop
import FarmPolicy
import FarmStore

/// Apps that no coordinator configures, and the jobs for them.
extension Coordinator {
    /// An app that no coordinator has configured for so long is forgotten, though hosts that have it may only be off.
    private static let forgetfulness = Duration.seconds(86_400)

    /// Apps of this configuration, of the hosts that live, and of those that were lost within the last hour.
    private var configuredApps: Set<String> {
        Set(configuration.apps.map(\.name)).union(membership.hosts.flatMap(\.apps)).union(lostApps)
    }

    /// To be called once a second.
    func lookForStrayInboxes() async {
        guard isFirstHost, !isStopping, !isSucceeding, !isSucceeded else { return inboxSearch.rest() }
        await inboxSearch.look(configured: configuredApps)
    }

    func lookAtInboxes(_ sights: inout [Alert: AlertEvaluator.Observation]) {
        let text = InboxSearch.text(inboxSearch.found, apps: configuredApps.sorted())
        sights[Alert(.strayInbox, .farm)] = text.map { .bad(level: 1, text: $0) } ?? .good
    }

    /// Lets producers hear that an app is unknown, once no coordinator has it any more. To be called every few seconds.
    func forgetApps() async {
        guard !isStopping, !isSucceeding, !isSucceeded else { return }
        do throws(RedisError) {
            let others = try await registry.hosts().filter { $0.name != configuration.host }
            let own = configuration.apps.map(\.name)
            let served = Set(others.flatMap(\.apps)).union(own)
            removedApps.subtract(own)
            for name in removedApps where !served.contains(name) {
                // A press that was under way may bring it back once: it is looked at again until it stays away.
                if await forget(name, after: .zero) == false { removedApps.remove(name) }
            }
            guard isFirstHost else { return }
            for name in try await registry.apps() where !served.contains(name) {
                _ = await forget(name, after: Self.forgetfulness)
            }
        } catch {
            // The next look is in a few seconds.
        }
    }

    /// - Returns: whether it was known; nil when Redis cannot say now.
    private func forget(_ name: String, after silence: Duration) async -> Bool? {
        let store = AppStore(app: name, connection: redis)
        guard let wasKnown = try? await store.perform(ForgetApp(silence: silence)) else { return nil }
        if wasKnown {
            log.notice(
                "app forgotten: no coordinator configures it, and its producers are refused",
                metadata: ["app": "\(name)"])
        }
        return wasKnown
    }
}
