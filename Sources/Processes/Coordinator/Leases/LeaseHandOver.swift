import EventLoop

/// Hands leases over to other hosts or to the successor. A lease is handed over as soon as no worker has batches
/// of its shard.
@Loop struct LeaseHandOver {
    unowned let context: HostContext

    /// Continues hand-overs that have begun. Call this function with every heartbeat.
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

    /// Begins to hand over the shards that other hosts should own, once the set of hosts is stable. A quiet host hands
    /// over at once.
    func handOverMisplaced(of app: HostedApp) {
        guard !context.lifecycle.isStopping,
            context.lifecycle.isQuiet || context.registration.membership.isStable(at: .now)
        else { return }
        app.leases.handOverOthers()
    }

    /// Hands the next few shards of an app to the successor.
    func handOverToSuccessor(_ app: HostedApp) {
        app.leases.handOverSome()
        releaseUnheldShards(of: app)
        context.leases.wake()
    }

    /// Hands over every lease of an app. This host acquires no more leases of the app.
    func handOverEverything(of app: HostedApp) {
        app.leases.handOverAll()
        releaseUnheldShards(of: app)
        context.leases.wake()
    }

    /// Hands over every lease of every app.
    func handOverEverything() {
        for app in context.apps.all { handOverEverything(of: app) }
    }

    /// Acquires leases again after an upgrade has failed.
    func resumeAcquiring() {
        for app in context.apps.all { app.leases.machine.resumeAcquiring() }
        context.leases.renewSoon()
    }

    /// Releases the leases of leaving shards that no worker uses. A worker uses a shard until the worker releases the shard, or
    /// until its process has exited and its batches were reclaimed.
    func releaseUnheldShards(of app: HostedApp) {
        shardsBecameEmpty(
            app.leases.machine.leaving.filter { context.shards.worker(serving: $0, app) == nil }, of: app)
    }

    /// Releases the leases of those shards in `numbers` that are leaving. Call this function when no worker has batches
    /// of the shards in `numbers`.
    func shardsBecameEmpty(_ numbers: some Sequence<Int>, of app: HostedApp) {
        defer { context.changes.signal() }
        guard app.leases.machine.shardsEmptied(numbers) else { return }
        // Begin to hand over the next few shards at once. If the next shards waited for the next heartbeat, the hand-over of all
        // shards would take many seconds.
        handOverNext(of: app)
        context.leases.wake()
    }
}
