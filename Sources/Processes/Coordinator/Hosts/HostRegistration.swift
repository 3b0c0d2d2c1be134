import EventLoop
import FarmPolicy
import StoreProtocol

/// This host's entry in the hosts hash: claims the host's name, writes heartbeats, and observes the other hosts.
@Loop final class HostRegistration {
    private unowned let context: HostContext
    /// How long a host counts as live without a heartbeat. Leases last longer. So, when a failed host's leases expire, the other
    /// hosts already know that the host has failed.
    private static let heartbeatLifetime = Duration.seconds(6)

    /// The live hosts, and the shards that each live host should own.
    private(set) var membership: Membership
    /// The nonce of this process's predecessor; empty unless the predecessor has certainly exited. This host replaces the
    /// heartbeat of an exited predecessor at once.
    var predecessor = ""
    private var conflict = HostNameConflict()
    /// Writes the heartbeat soon. Several calls cause only one heartbeat.
    private(set) lazy var heartbeatSoon = WakeUp { [unowned self] in await sendHeartbeat() }

    init(_ context: HostContext) {
        self.context = context
        membership = Membership(shards: context.shardCount, now: .now)
    }

    // MARK: Questions

    /// Whether this host is the first of the live hosts. The first host does the tasks that only one host of the farm
    /// does.
    var isFirstHost: Bool { membership.hosts.first?.name == context.host }

    /// Whether the hosts hash, which the other hosts read, shows capacity 0 for this host.
    var isKnownQuiet: Bool { membership.hosts.contains { $0.name == context.host && $0.capacity == 0 } }

    /// Live hosts that can take over this host's shards.
    var newOwners: [String] {
        membership.hosts.filter { $0.name != context.host && $0.capacity > 0 }.map(\.name)
    }

    // MARK: Heartbeats

    /// Writes the first heartbeat. Waits while another process has the host's name, and fails if that process is alive.
    func claimName() async throws {
        var hasWaited = false
        while true {
            let reply = try await context.retryWhileRedisIsAway { [unowned self] in
                try await writeHeartbeat()
            }
            switch conflict.observe(reply) {
            case .ours:
                observe(reply.members)
                return announceChange()
            case .lost: throw CoordinatorError.hostNameTaken(context.host)
            case .held(let remaining):
                if !hasWaited { logNameHeld(for: remaining) }
                hasWaited = true
                try await Loop.sleep(for: min(remaining, .milliseconds(500)))
            }
        }
    }

    /// Kills hanging children and writes the heartbeat. Call it once a second.
    ///
    /// While the predecessor has the host's name, this process only reads the live hosts and writes no heartbeat of its own.
    /// While the successor has the name, this function only kills hanging children.
    func sendHeartbeat() async {
        context.fleet.killHangingChildren()
        let holder = context.lifecycle.nameHolder
        guard holder == .thisProcess || holder == .predecessor else { return }
        do throws(RedisError) {
            let reply = try await writeHeartbeat()
            if context.lifecycle.nameHolder == .predecessor {
                observe(reply.members)
                return proceed()
            }
            switch conflict.observe(reply) {
            case .ours: observe(reply.members)
            case .held(let remaining): return logNameHeld(for: remaining)
            case .lost: return loseName()
            }
        } catch {
            context.log.debug("heartbeat failed", error: error)
            return
        }
        proceed()
    }

    /// Continues hand-overs and scaling after each heartbeat that Redis has confirmed.
    private func proceed() {
        context.handOver.proceed()
        context.scaling.evaluate()
    }

    /// Makes the other hosts read the hosts hash, because this host starts, stops, or changes what it serves.
    func announceChange() { context.farmRedis.send(FarmMessage.hosts.text) }

    func sendHeartbeatAndAnnounce() async {
        await sendHeartbeat()
        announceChange()
    }

    private func writeHeartbeat() async throws(RedisError) -> Heartbeat.Reply {
        try await context.farmRedis.heartbeat(
            context.status.heartbeat, predecessor: predecessor, lifetime: Self.heartbeatLifetime)
    }

    private func logNameHeld(for remaining: Duration) {
        context.log.notice(
            "another coordinator uses this host's name: waiting until the other coordinator's heartbeat expires",
            metadata: ["host": "\(context.host)", "until": "\(remaining)"])
    }

    /// Stops this process. The reason is that another process took the host's name while this process was suspended for a long
    /// time.
    private func loseName() {
        guard context.lifecycle.failure == nil else { return }
        context.log.critical(
            "another coordinator took this host's name", metadata: ["host": "\(context.host)"])
        let failure = CoordinatorError.hostNameTaken(context.host)
        if context.lifecycle.isStopping {
            context.lifecycle.stop(because: failure)
        } else {
            context.shutdown.stop(because: failure)
        }
    }

    /// Removes this host's heartbeat entry during an orderly shutdown.
    func leave() async {
        context.lifecycle.leaveHosts()
        // If this call fails, the entry expires.
        try? await context.farmRedis.leave(host: context.host, nonce: context.nonce)
        context.farmRedis.send(FarmMessage.hostLeft(host: context.host).text)
    }

    // MARK: Other hosts

    /// Handles the message that a host has shut down normally.
    func hostLeft(_ name: String) {
        membership.announcedExit(of: name, at: .now)
        heartbeatSoon()
    }

    /// - Returns: whether the pins have changed.
    func setPins(_ pins: Pins) -> Bool {
        guard pins != membership.pins else { return false }
        membership.pins = pins
        return true
    }

    private func observe(_ members: [Heartbeat.Member]) {
        let hosts = members.map { Membership.Host(name: $0.name, capacity: $0.capacity, apps: Set($0.apps)) }
        guard let change = membership.observe(hosts, at: .now) else { return }
        for name in change.come where name != context.host {
            context.log.notice("host joined", metadata: ["host": "\(name)"])
        }
        for name in change.gone { context.log.notice("host left", metadata: ["host": "\(name)"]) }
        for app in context.apps.all {
            updateShares(of: app)
            if !change.gone.isEmpty { app.claimAbandonedResults() }
        }
        context.leases.wake()
    }

    /// Tells an app which shards each host should own.
    func updateShares(of app: HostedApp) {
        app.leases.machine.shares = membership.shares(of: app.name)
        app.leases.machine.makeRoundDue()
    }
}
