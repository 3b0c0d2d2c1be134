import EventLoop

/// Makes the host quiet, drains it, and resumes it.
@Loop struct HostParticipation {
    unowned let context: HostContext

    /// Takes no new work until ``resume()``. The host's shards go to hosts that take new work, if such hosts exist.
    func becomeQuiet() {
        guard !context.lifecycle.isQuiet else { return }
        context.log.notice("quiet: taking no new work")
        context.lifecycle.becomeQuiet()
        for app in context.apps.all { app.isQuiet = true }
        context.shards.setQuiet(true)
        Loop.task {
            // First tell the other hosts that this host takes no new work.
            await self.context.registration.sendHeartbeatAndAnnounce()
            for app in self.context.apps.all {
                self.context.handOver.handOverMisplaced(of: app)
                self.context.handOver.releaseUnheldShards(of: app)
            }
        }
    }

    /// Hands all shards over, and keeps running. Tells the other hosts first that this host takes no new work.
    func becomeDrained() {
        guard !context.lifecycle.isDrained else { return }
        context.log.notice("draining: handing all shards over")
        context.lifecycle.becomeDrained()
        Loop.task {
            await self.context.registration.sendHeartbeatAndAnnounce()
            self.context.handOver.handOverEverything()
        }
    }

    /// Makes the host serve again after ``becomeDrained()`` or ``becomeQuiet()``.
    func resume() {
        guard context.lifecycle.participation != .full, !context.lifecycle.isStopping else { return }
        context.log.notice("resumed: taking new work")
        context.lifecycle.resume()
        for app in context.apps.all {
            app.isQuiet = false
            app.leases.machine.resumeAcquiring()
        }
        context.shards.setQuiet(false)
        Loop.task {
            await self.context.registration.sendHeartbeatAndAnnounce()
            self.context.leases.renewSoon()
        }
    }
}
