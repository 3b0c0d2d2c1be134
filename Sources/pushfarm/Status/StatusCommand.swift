import ArgumentParser
import EventLoop
import RedisClient
import StoreProtocol

struct StatusCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows hosts, workers, apps and Redis.",
        discussion: """
            The column OPEN counts pushes without an outcome, DEAD counts pushes in dead
            letters, INBOX counts jobs that are not split yet, and JOBS counts open jobs.
            The columns READY and DELAYED count batches of up to 256 pushes, not pushes;
            with --json, the fields "ready", "in_flight" and "delayed" also count batches.
            The exit status is 1 when there is a problem, so scripts can use this command
            as a check.

            Example:
              pushfarm status --json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    func run(_ client: FarmClient, _ console: Console) async throws {
        let status = try await FarmStatus.read(from: client)
        console.show(status.json, StatusText(status: status, style: console.style).text)
        if !status.troubles.isEmpty { throw CommandFailure.failed() }
    }
}

/// The status as tables, with the problems first.
struct StatusText {
    let status: FarmStatus
    let style: TextStyle

    var text: String {
        var parts = [head]
        for host in status.hosts { parts.append(text(host)) }
        if !status.apps.isEmpty { parts.append(apps) }
        let operatorSettings = status.apps.flatMap(\.operatorSettings).map { PlainText.of($0, limit: 300) }
        if !operatorSettings.isEmpty { parts.append(operatorSettings.joined(separator: "\n") + "\n") }
        if status.apps.contains(where: { !$0.owners.isEmpty }) { parts.append(leases) }
        if let feedback { parts.append(feedback) }
        if let alerts { parts.append(alerts) }
        parts.append(redis)
        return parts.joined(separator: "\n")
    }

    /// The first lines of the status, with the problems. These lines come before the tables, so that the reader sees a
    /// problem at once.
    private var head: String {
        let troubles = status.troubles
        let rate = status.hosts.reduce(0) { $0 + $1.rate }
        let count = status.live.count
        let sums =
            "  \(count) \(count == 1 ? "host" : "hosts")  \(Figures.grouped(rate))/s  "
            + "\(Figures.grouped(status.apps.reduce(0) { $0 + $1.depths.open })) open\n"
        guard !troubles.isEmpty else { return Paint.green.on("all is well", if: style.colours) + sums }
        let words = troubles.count == 1 ? "1 trouble" : "\(troubles.count) troubles"
        return Paint.red.on(words, if: style.colours) + sums
            + troubles.map { Paint.red.on("! " + PlainText.of($0, limit: 300), if: style.colours) + "\n" }
            .joined()
    }

    private func text(_ host: HostStatus) -> String {
        let name = Paint.bold.on(host.host, if: style.colours)
        let state = (host.isGone ? Paint.red : .green).on(host.state, if: style.colours)
        var table = Table([
            "#": .right, "PID": .right, "STATE": .left, "SHARDS": .right, "STREAMS": .right, "RATE/S": .right,
            "FAILED": .right, "MEMORY": .right, "UP": .right, "RESTARTS": .right,
        ])
        for worker in host.workers {
            table.add(
                .init(worker.worker), .init(Figures.pid(worker.pid)), .init(worker.state, paint(of: worker)),
                .init(String(worker.shards)), .number(worker.streams),
                .init(Figures.short(worker.rate), worker.slowedTo > 0 ? .yellow : nil),
                .number(worker.failed), .init(memory(worker.rss)), .init(age(since: worker.since)),
                .init(String(worker.restarts), worker.restarts > 0 ? .yellow : nil))
        }
        let up = host.since > 0 && !host.isGone ? "  up \(age(since: host.since))" : ""
        let staff = host.isAuto ? "  \(host.workers.count) of \(host.capacity) workers (auto)" : ""
        return "\(name)  \(state)  coordinator \(host.pid)\(up)\(staff)\n" + (host.intake.map(text) ?? "")
            + (table.isEmpty ? "no workers\n" : table.text(style)) + slowed(host)
    }

    private func paint(of worker: HostStatus.WorkerStatus) -> Paint? {
        switch worker.state {
        case "ready": nil
        case "failed", "backing-off", "gone": .red
        default: .yellow
        }
    }

    private func age(since: Int64) -> String {
        since > 0 && status.at > 0 ? Figures.brief(.milliseconds(max(0, status.at - since))) : ""
    }

    /// The memory as text, or an empty text while the process has not reported it.
    private func memory(_ bytes: Int) -> String { bytes > 0 ? Figures.bytes(Int64(bytes)) : "" }

    /// Workers that send at a reduced rate because a gateway has problems.
    private func slowed(_ host: HostStatus) -> String {
        host.workers.filter { $0.slowedTo > 0 }.map {
            "worker \($0.worker): slowed to \(Figures.grouped($0.slowedTo))/s because a gateway has problems\n"
        }.joined()
    }

    private func text(_ intake: HostStatus.IntakeStatus) -> String {
        var words = [
            "intake \(Figures.pid(intake.pid))", intake.state, "\(Figures.grouped(intake.rate)) jobs/s",
            Figures.counted(intake.jobs, "job", "jobs"),
        ]
        if intake.rss > 0 { words.append(memory(intake.rss)) }
        if intake.restarts > 0 {
            words.append(
                Paint.yellow.on(
                    "ended \(Figures.counted(intake.restarts, "time", "times"))", if: style.colours))
        }
        return words.joined(separator: "  ") + "\n"
    }

    private var apps: String {
        var table = Table([
            "APP": .left, "STATE": .left, "RATE/S": .right, "OPEN": .right, "READY": .right,
            "DELAYED": .right, "DEAD": .right, "INBOX": .right, "JOBS": .right, "OLDEST": .right,
        ])
        for app in status.apps {
            table.add(
                .init(app.app), .init(app.state.word, app.state.paint),
                .number(status.sums(of: app.app).rate), .number(app.depths.open), .number(app.ready),
                .number(app.depths.delayed), .number(app.dead, .yellow), .number(app.inbox),
                .init(app.openJobs.map(Figures.short) ?? ""),
                .init(app.ages.oldest.map { Figures.brief($0) } ?? ""))
        }
        return table.text(style)
    }

    private var leases: String {
        var table = Table([
            "APP": .left, "HOST": .left, "SHARDS": .right, "INTAKE": .left, "LEASE ENDS IN": .right,
        ])
        for app in status.apps {
            for owner in app.owners {
                let remaining = Double(owner.leaseMilliseconds) / 1000
                table.add(
                    .init(app.app), .init(owner.host), .init(String(owner.shards)),
                    .init(owner.hasIntake ? "yes" : ""),
                    .init(
                        remaining > 0 ? "\((remaining * 10).rounded() / 10) s" : "ended",
                        remaining > 0 ? nil : .red))
            }
            if app.unowned > 0 {
                table.add(.init(app.app), .init("no host", .yellow), .init(String(app.unowned)))
            }
        }
        return table.text(style)
    }

    private var feedback: String? {
        var table = Table([
            "APP": .left, "FEEDBACK READ": .left, "TOKENS": .right, "TOTAL": .right, "NEXT": .left,
        ])
        for app in status.apps {
            guard let feedback = app.feedback else { continue }
            table.add(
                .init(app.app),
                feedback.failures > 0
                    ? .init("failed", .red)
                    : .init(feedback.readAt > 0 ? age(since: feedback.readAt) + " ago" : "never"),
                .number(feedback.tuples), .number(feedback.total),
                .init(
                    feedback.isReading
                        ? "now" : "in " + Figures.brief(.milliseconds(feedback.due - status.at))))
        }
        return table.isEmpty ? nil : table.text(style)
    }

    private var alerts: String? {
        guard !status.latest.isEmpty else { return nil }
        var table = Table(["LAST ALERTS": .right, "STATE": .left, "TEXT": .left])
        for alert in status.latest.prefix(5) {
            table.add(
                .init("\(age(since: alert.at)) ago"),
                alert.hasFired ? .init("fires", .red) : .init("cleared", .green),
                .init(PlainText.of(alert.text, limit: 300)))
        }
        return table.text(style)
    }

    private var redis: String {
        let redis = status.redis
        let limit = redis.maxMemory == 0 ? "without a limit" : "of " + Figures.bytes(Int64(redis.maxMemory))
        return
            "Redis \(redis.version)  \(Figures.bytes(Int64(redis.usedMemory))) \(limit)  \(redis.evictionPolicy)\n"
    }
}
