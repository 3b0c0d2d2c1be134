import EventLoop
import FarmPolicy
import StoreProtocol

/// This host's line in the farm's registry: claims the host's name, writes the heartbeat, and sees which other hosts live.
@Loop final class HostRegistration {
    private unowned let context: HostContext
    /// How long a host counts as live without a heartbeat. Leases live longer, so a host that takes shards over knows which host has failed.
    private static let lineLife = Duration.seconds(6)

    /// The living hosts, and which of them should own what.
    private(set) var membership: Membership
    /// The nonce of the predecessor on this host if it is known to have exited, else "". Its heartbeat is replaced at once.
    var predecessor = ""
    private var claim = HostClaim()
    /// Writes the heartbeat soon, once for any number of calls.
    private(set) lazy var heartbeatSoon = WakeUp { [unowned self] in await sendHeartbeat() }

    init(_ context: HostContext) {
        self.context = context
        membership = Membership(shards: context.shardCount, now: .now)
    }

    // MARK: Questions

    /// Of the living hosts, this one does what one host does for the farm.
    var isFirstHost: Bool { membership.hosts.first?.name == context.host }

    /// The farm knows that this host serves nothing.
    var isKnownQuiet: Bool { membership.hosts.contains { $0.name == context.host && $0.capacity == 0 } }

    /// Living hosts that can take what this host gives away.
    var newOwners: [String] {
        membership.hosts.filter { $0.name != context.host && $0.capacity > 0 }.map(\.name)
    }

    // MARK: Heartbeats

    /// Writes the first line, unless another living coordinator has this host's name.
    func claimName() async throws {
        var hasWaited = false
        while true {
            let reply = try await context.retryWhileRedisIsAway { [unowned self] in try await writeLine() }
            switch claim.see(reply) {
            case .ours:
                observe(reply.members)
                return announceChange()
            case .lost: throw CoordinatorError.hostNameTaken(context.host)
            case .held(let left):
                if !hasWaited { logNameHeld(for: left) }
                hasWaited = true
                try await Loop.sleep(for: min(left, .milliseconds(500)))
            }
        }
    }

    /// Looks after the children and writes the heartbeat. To be called once a second.
    ///
    /// While the predecessor or the successor has the host's name, this process only reads the live hosts, or does nothing.
    func sendHeartbeat() async {
        context.fleet.killHangingChildren()
        let holder = context.lifecycle.nameHolder
        guard holder == .thisProcess || holder == .predecessor else { return }
        do throws(RedisError) {
            let reply = try await writeLine()
            if context.lifecycle.nameHolder == .predecessor {
                observe(reply.members)
                return proceed()
            }
            switch claim.see(reply) {
            case .ours: observe(reply.members)
            case .held(let left): return logNameHeld(for: left)
            case .lost: return loseName()
            }
        } catch {
            context.log.debug("heartbeat failed", error: error)
            return
        }
        proceed()
    }

    /// What follows each heartbeat that Redis has answered.
    private func proceed() {
        context.handOver.proceed()
        context.scaling.evaluate()
    }

    /// Tells the other hosts to read the registry: this host has come, goes, or serves more or less.
    func announceChange() { context.registry.send(HostCommand.hosts.text) }

    /// Writes the heartbeat, then notifies the other hosts.
    func sendHeartbeatAndAnnounce() async {
        await sendHeartbeat()
        announceChange()
    }

    private func writeLine() async throws(RedisError) -> Heartbeat.Reply {
        try await context.registry.heartbeat(
            context.status.heartbeat, predecessor: predecessor, lifetime: Self.lineLife)
    }

    private func logNameHeld(for left: Duration) {
        context.log.notice(
            "another coordinator holds this host's name: waiting until its claim expires",
            metadata: ["host": "\(context.host)", "until": "\(left)"])
    }

    /// While this process was paused for long, another one took its name.
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

    /// Removes this host's line in order.
    func leave() async {
        context.lifecycle.leaveRegistry()
        // The line ends by itself if this does not get through.
        try? await context.registry.leave(host: context.host, nonce: context.nonce)
        context.registry.send(HostCommand.left(host: context.host).text)
    }

    // MARK: Other hosts

    /// A host has left in order.
    func hostLeft(_ name: String) {
        membership.left(name, at: .now)
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
            if !change.gone.isEmpty { app.hostsAreGone() }
        }
        context.leases.wake()
    }

    /// Tells an app which host should own what.
    func updateShares(of app: HostedApp) {
        app.leases.held.shares = membership.shares(of: app.name)
        app.leases.held.wake()
    }
}
