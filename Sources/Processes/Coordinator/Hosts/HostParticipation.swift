import EventLoop

/// Makes the host quiet, drains it, and lets it serve again.
@Loop struct HostParticipation {
    unowned let context: HostContext

    /// Takes nothing more, until ``resume()``. The host's shards go to hosts that serve, if there are any.
    func becomeQuiet() {
        guard !context.lifecycle.isQuiet else { return }
        context.log.notice("quiet: taking no new work")
        context.lifecycle.becomeQuiet()
        for app in context.apps.all { app.isQuiet = true }
        context.shards.setQuiet(true)
        Loop.task {
            // Others learn first that this host serves nothing.
            await self.context.registration.sendHeartbeatAndAnnounce()
            for app in self.context.apps.all {
                self.context.handOver.handOverMisplaced(of: app)
                self.context.handOver.releaseUnheldShards(of: app)
            }
        }
    }

    /// Gives everything away, and stays. Others learn first that this host takes nothing more.
    func becomeDrained() {
        guard !context.lifecycle.isDrained else { return }
        context.log.notice("draining: handing all shards over")
        context.lifecycle.becomeDrained()
        Loop.task {
            await self.context.registration.sendHeartbeatAndAnnounce()
            self.context.handOver.handOverEverything()
        }
    }

    /// Takes part again after ``becomeDrained()`` or ``becomeQuiet()``.
    func resume() {
        guard context.lifecycle.participation != .full, !context.lifecycle.isStopping else { return }
        context.log.notice("resumed: takes work again")
        context.lifecycle.resume()
        for app in context.apps.all {
            app.isQuiet = false
            app.leases.held.resumeTaking()
        }
        context.shards.setQuiet(false)
        Loop.task {
            await self.context.registration.sendHeartbeatAndAnnounce()
            self.context.leases.renewSoon()
        }
    }
}
