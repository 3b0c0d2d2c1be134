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
    /// How long a line lives without a beat; leases live longer, so the host that takes over shards knows which host is gone.
    static let lineLife = Duration.seconds(6)

    /// Writes the first line, unless another coordinator with our name lives.
    func takeSeat() async throws {
        var hasWaited = false
        while true {
            let reply = try await patiently { [unowned self] in try await writeLine() }
            switch hostClaim.see(reply) {
            case .ours:
                observe(reply.members)
                return registry.tell(HostCommand.hosts.text)
            case .lost: throw CoordinatorError.hostNameTaken(configuration.host)
            case .held(let left):
                if !hasWaited { tellOfStranger(left) }
                hasWaited = true
                try await Loop.sleep(for: min(left, .milliseconds(500)))
            }
        }
    }

    /// The line of the coordinator before is ours, at whatever time Redis brings it back.
    private func writeLine() async throws(RedisError) -> Heartbeat.Reply {
        try await registry.beat(hostBeat, predecessor: predecessor, lifetime: Self.lineLife)
    }

    private func tellOfStranger(_ left: Duration) {
        log.notice(
            "another coordinator has this host's name: waiting whether it lives",
            metadata: ["host": "\(configuration.host)", "until": "\(left)"])
    }

    func beat() async {
        for slot in slots { slot.watch() }
        intake?.watch()
        guard !isSucceeded, !hasLeft else { return }
        do throws(RedisError) {
            let reply = try await writeLine()
            if isSucceeding {
                observe(reply.members)
                return lookAfterShares()
            }
            switch hostClaim.see(reply) {
            case .ours: observe(reply.members)
            case .held(let left): return tellOfStranger(left)
            case .lost: return seatIsLost()
            }
        } catch {
            log.debug("no heartbeat", metadata: ["error": "\(error)"])
            return
        }
        lookAfterShares()
    }

    private func lookAfterShares() {
        for app in apps.values {
            if isHandingOver { handOverSome(app) } else { handOverOthers(app) }
            app.leases.keepOverdue()
            letGo(app)
        }
        lookAtStaff()
    }

    /// A child has become ready: who waits for the farm hears it now, and not with the next beat.
    func tellSoon() {
        guard !isTelling else { return }
        isTelling = true
        Loop.task {
            self.isTelling = false
            if !self.isStopping { await self.beat() }
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

    private func observe(_ members: [Heartbeat.Member]) {
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
        case .hosts: beatSoon()
        case .left(let host):
            membership.left(host, at: .now)
            beatSoon()
        case .free(let app):
            apps[app]?.leases.wake()
            leaseBell.ring()
        case .feedback(let app):
            apps[app]?.feedback.wake()
            apps[app]?.lookAfterFeedbackSoon()
        case .release: release()
        case .operation: lookForOperationsSoon()
        case .other: for app in apps.values { app.lookSoon() }
        }
    }

    private var hostBeat: Heartbeat {
        Heartbeat(
            host: configuration.host, nonce: nonce,
            // What a host has whose workers are all quiet goes to the others, if there are any that serve.
            capacity: isLeaving || placement.isAllQuiet
                ? 0 : slots.prefix(capacity).count { $0.state != .failed },
            apps: isLeaving ? [] : configuration.apps.map(\.name), status: line.json)
    }

    /// Others are to take what is here.
    private var isLeaving: Bool { isStopping || isDrained }

    /// Workers that this host can run: what counts for its share.
    private var capacity: Int { staffing?.most ?? placement.size }

    var statusLine: [UInt8] { line.json }

    private var state: String {
        if isStopping { return "stopping" }
        if isDrained { return "drained" }
        return isQuiet ? "quiet" : "running"
    }

    private var line: HostLine {
        HostLine(
            host: configuration.host, pid: getpid(), state: state,
            capacity: capacity, isAuto: staffing != nil, since: since, intake: intake,
            slots: slots.filter { $0.index < placement.size || $0.pid > 0 }.map { slot in
                (
                    slot, placement.isQuiet(slot.index) || slot.beat.isQuiet,
                    apps.values.map { $0.shards { placement.place(of: $0) == slot.index }.count }.max() ?? 0
                )
            },
            apps: apps.values.map { ($0.name, $0.leases.tokens.count, $0.context.totals) }.sorted {
                ($1.2.pace.rate, $0.0) < ($0.2.pace.rate, $1.0)
            },
            quarantined: quarantine.held(at: .now).map { ($0.shard.app, $0.shard.number, $0.left) },
            problems: problems)
    }

    /// What is wrong with files while the host goes on with what it has read before.
    private var problems: [String] {
        let credentials = apps.values.compactMap { app in
            app.credentials.pauseReason == nil ? app.credentials.problem.map { "\(app.name): \($0)" } : nil
        }
        return (refusal.map { ["configuration not followed: \($0)"] } ?? [])
            + credentials.sorted().map { "credentials not followed: \($0)" }
    }
}
