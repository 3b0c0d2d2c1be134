import EventLoop
import FarmPolicy
import FarmStore
import Logging

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// This host among the farm's: its line in the registry, who else lives, and what that means for the shards.
extension Coordinator {
    /// How long a line lives without a beat; leases live longer, so whoever takes shards over knows who is gone.
    static let lineLife = Duration.seconds(6)

    /// Writes the first line, unless another coordinator with our name lives.
    ///
    /// A line that one left that has crashed ends within its life time; one that is written anew belongs to one that lives.
    func takeSeat(predecessor: String) async throws {
        var lastEnd: Int64?
        while true {
            let reply = try await patiently { [unowned self] in
                try await registry.beat(hostBeat, predecessor: predecessor, lifetime: Self.lineLife)
            }
            guard let left = reply.heldFor else {
                observe(reply.members)
                return registry.tell(HostCommand.hosts.text)
            }
            let end = reply.time + Int64(left.milliseconds)
            if let lastEnd, end > lastEnd { throw CoordinatorError.hostNameTaken(configuration.host) }
            if lastEnd == nil {
                log.notice(
                    "another coordinator has this host's name: waiting whether it lives",
                    metadata: ["host": "\(configuration.host)", "until": "\(left)"])
            }
            lastEnd = end
            try await Loop.sleep(for: min(left, .milliseconds(500)))
        }
    }

    func beat() async {
        for slot in slots { slot.watch() }
        intake?.watch()
        do throws(RedisError) {
            let reply = try await registry.beat(hostBeat, lifetime: Self.lineLife)
            guard reply.heldFor == nil else { return seatIsLost() }
            observe(reply.members)
        } catch {
            log.debug("no heartbeat", metadata: ["error": "\(error)"])
            return
        }
        for app in apps.values {
            handOverOthers(app)
            app.leases.keepOverdue()
            letGo(app)
        }
    }

    /// While this process stood still for long, another one took its name.
    private func seatIsLost() {
        guard failure == nil else { return }
        failure = .hostNameTaken(configuration.host)
        log.critical(
            "another coordinator has taken this host's name", metadata: ["host": "\(configuration.host)"])
        if !isStopping { stop() }
    }

    private func observe(_ members: [HostBeat.Member]) {
        let hosts = members.map { Membership.Host(name: $0.name, capacity: $0.capacity, apps: Set($0.apps)) }
        guard let change = membership.observe(hosts, at: .now) else { return }
        for name in change.come where name != configuration.host {
            log.notice("a host has come", metadata: ["host": "\(name)"])
        }
        for name in change.gone { log.notice("a host is gone", metadata: ["host": "\(name)"]) }
        for (name, app) in apps {
            app.leases.shares = membership.shares(of: name)
            app.leases.wake()
            if !change.gone.isEmpty { app.hostsAreGone() }
        }
        leaseBell.ring()
    }

    func obey(_ command: HostCommand) {
        switch command {
        case .hosts: Task { @Loop in await beat() }
        case .left(let host):
            membership.left(host, at: .now)
            Task { @Loop in await beat() }
        case .free(let app):
            apps[app]?.leases.wake()
            leaseBell.ring()
        case .release: release()
        case .other: Task { @Loop in for app in apps.values { await app.credentials.look() } }
        }
    }

    private var hostBeat: HostBeat {
        HostBeat(
            host: configuration.host, nonce: nonce,
            capacity: isStopping ? 0 : slots.count { $0.state != .failed },
            apps: isStopping ? [] : configuration.apps.map(\.name), status: line.json)
    }

    private var line: HostLine {
        HostLine(
            host: configuration.host, pid: getpid(), state: isStopping ? "stopping" : "running",
            capacity: slots.count, since: since, intake: intake,
            slots: slots.map { slot in
                (slot, apps.values.map { $0.shards { map.worker(of: $0) == slot.index }.count }.max() ?? 0)
            },
            quarantined: quarantine.held(at: .now).map { ($0.shard.app, $0.shard.number, $0.left) })
    }
}
