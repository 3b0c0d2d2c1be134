import EventLoop
import Logging
import RedisClient
import StoreProtocol

/// Makes the host quiet, drains it, and lets it serve again.
@Loop final class HostParticipation {
    private let context: HostContext
    private let apps: HostedApps
    private let shards: ShardDistribution
    private let registration: HostRegistration
    private let leases: LeaseKeeper
    private let handOver: LeaseHandOver

    init(
        _ context: HostContext, _ apps: HostedApps, _ shards: ShardDistribution,
        _ registration: HostRegistration, _ leases: LeaseKeeper, _ handOver: LeaseHandOver
    ) {
        (self.context, self.apps, self.shards) = (context, apps, shards)
        (self.registration, self.leases, self.handOver) = (registration, leases, handOver)
    }

    /// Takes nothing more, until ``resume()``. The host's shards go to hosts that serve, if there are any.
    func becomeQuiet() {
        guard !context.lifecycle.isQuiet else { return }
        context.log.notice("quiet: taking no new work")
        context.lifecycle.becomeQuiet()
        for app in apps.all { app.isQuiet = true }
        shards.setQuiet(true)
        Loop.task {
            // Others learn first that this host serves nothing.
            await self.registration.sendHeartbeatAndAnnounce()
            for app in self.apps.all {
                self.handOver.handOverStrangers(of: app)
                self.handOver.releaseUnheldShards(of: app)
            }
        }
    }

    /// Gives everything away, and stays. Others learn first that this host takes nothing more.
    func becomeDrained() {
        guard !context.lifecycle.isDrained else { return }
        context.log.notice("draining: handing all shards over")
        context.lifecycle.becomeDrained()
        Loop.task {
            await self.registration.sendHeartbeatAndAnnounce()
            self.handOver.handOverEverything()
        }
    }

    /// Takes part again after ``becomeDrained()`` or ``becomeQuiet()``.
    func resume() {
        guard context.lifecycle.participation != .full, !context.lifecycle.isStopping else { return }
        context.log.notice("resumed: takes work again")
        context.lifecycle.resume()
        for app in apps.all {
            app.isQuiet = false
            app.leases.resumeTaking()
        }
        shards.setQuiet(false)
        Loop.task {
            await self.registration.sendHeartbeatAndAnnounce()
            self.leases.renewSoon()
        }
    }
}
