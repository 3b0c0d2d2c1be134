import EventLoop

/// Gives leases to other hosts or to the successor, each as soon as no worker has anything of its shard.
@Loop struct LeaseHandOver {
    unowned let context: HostContext

    /// Continues hand-overs. To be called with every heartbeat.
    func proceed() {
        for app in context.apps.all {
            handOverNext(of: app)
            app.leases.keepOverdue()
            releaseUnheldShards(of: app)
        }
    }

    private func handOverNext(of app: HostedApp) {
        if context.lifecycle.isHandingOver { handOverToSuccessor(app) } else { handOverMisplaced(of: app) }
    }

    /// Begins to hand over the shards that other hosts should own, when the set of hosts has not changed for a while. What
    /// a quiet host does not serve goes at once.
    func handOverMisplaced(of app: HostedApp) {
        guard !context.lifecycle.isStopping,
            context.lifecycle.isQuiet || context.registration.membership.isSettled(at: .now)
        else { return }
        app.leases.handOverOthers()
    }

    /// Hands the next few shards of an app to the successor.
    func handOverToSuccessor(_ app: HostedApp) {
        app.leases.handOverSome()
        releaseUnheldShards(of: app)
        context.leases.wake()
    }

    /// Hands over every lease of an app; this host takes nothing more of it.
    func handOverEverything(of app: HostedApp) {
        app.leases.handOverAll()
        releaseUnheldShards(of: app)
        context.leases.wake()
    }

    /// Hands over every lease of every app.
    func handOverEverything() {
        for app in context.apps.all { handOverEverything(of: app) }
    }

    /// Takes and keeps leases again after an upgrade that failed.
    func resumeTaking() {
        for app in context.apps.all { app.leases.held.resumeTaking() }
        context.leases.renewSoon()
    }

    /// Releases leaving shards of which no worker has anything: their worker does not run, is quiet, or has released them.
    func releaseUnheldShards(of app: HostedApp) {
        shardsBecameEmpty(
            app.leases.held.leaving.filter { context.shards.holder(of: $0, app) == nil }, of: app)
    }

    /// Releases those of the shards that are leaving: no worker has anything of them any more.
    func shardsBecameEmpty(_ numbers: some Sequence<Int>, of app: HostedApp) {
        defer { context.changes.signal() }
        guard app.leases.held.emptied(numbers) else { return }
        // The next ones follow at once: with one portion a heartbeat, half of the shards would take as many seconds.
        handOverNext(of: app)
        context.leases.wake()
    }
}
