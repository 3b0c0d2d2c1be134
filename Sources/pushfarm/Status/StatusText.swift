import FarmLogging
import FarmStore

/// The status as tables.
struct StatusText {
    let status: FarmStatus
    let colours: Bool

    var text: String {
        var parts: [String] = []
        for host in status.hosts { parts.append(text(host)) }
        if !status.apps.isEmpty { parts.append(apps) }
        if status.apps.contains(where: { !$0.owners.isEmpty }) { parts.append(leases) }
        if let feedback { parts.append(feedback) }
        parts.append(redis)
        let troubles = status.troubles.map { Paint.red.on("! " + $0, if: colours) + "\n" }.joined()
        if !troubles.isEmpty { parts.append(troubles) }
        return parts.joined(separator: "\n")
    }

    private func text(_ host: HostStatus) -> String {
        let name = Paint.bold.on(host.host, if: colours)
        let state = (host.state == "gone" ? Paint.red : .green).on(host.state, if: colours)
        var table = Table([
            "WORKER": .left, "PID": .right, "STATE": .left, "SHARDS": .right, "CONNECTIONS": .right,
            "STREAMS": .right, "RATE/S": .right, "DELIVERED": .right, "FAILED": .right, "RESTARTS": .right,
            "MEMORY": .right,
        ])
        for worker in host.workers {
            table.add(
                .init(worker.worker), .init(String(worker.pid)), .init(worker.state),
                .init(String(worker.shards)), .init(String(worker.connections)),
                .init(String(worker.streams)),
                .init(rate(of: worker), worker.slowedTo > 0 ? .yellow : nil),
                .init(Figures.grouped(worker.delivered)),
                .init(Figures.grouped(worker.failed)),
                .init(String(worker.restarts), worker.restarts > 0 ? .yellow : nil),
                .init(Figures.bytes(Int64(worker.rss))))
        }
        let staff = host.isAuto ? "  \(host.workers.count) of at most \(host.capacity) workers (auto)" : ""
        return "\(name)  \(state)  coordinator \(host.pid)\(staff)\n" + (host.intake.map(text) ?? "")
            + (table.isEmpty ? "no workers\n" : table.text(colours: colours))
    }

    private func rate(of worker: HostStatus.Worker) -> String {
        let rate = Figures.grouped(worker.rate)
        return worker.slowedTo > 0 ? rate + ", slowed to \(Figures.grouped(worker.slowedTo))" : rate
    }

    private func text(_ intake: HostStatus.Intake) -> String {
        var words = [
            "intake \(intake.pid)", intake.state, "\(Figures.grouped(intake.rate)) jobs/s",
            "\(Figures.grouped(intake.jobs)) jobs", Figures.bytes(Int64(intake.rss)),
        ]
        if intake.restarts > 0 { words.append(Paint.yellow.on("\(intake.restarts) restarts", if: colours)) }
        return words.joined(separator: "  ") + "\n"
    }

    private var apps: String {
        var table = Table([
            "APP": .left, "STATE": .left, "OPEN": .right, "INBOX": .right, "READY": .right,
            "IN FLIGHT": .right,
            "DELAYED": .right,
            "RESULTS": .right, "OPEN JOBS": .right,
        ])
        for app in status.apps {
            table.add(
                .init(app.app), state(of: app), .init(Figures.grouped(app.depths.open)),
                .init(Figures.grouped(app.inbox)), .init(Figures.grouped(app.ready)),
                .init(Figures.grouped(app.inFlight)), .init(Figures.grouped(app.depths.delayed)),
                .init(Figures.grouped(app.depths.results)), .init(Figures.grouped(app.openJobs)))
        }
        return table.text(colours: colours)
    }

    private func state(of app: AppStatus) -> Table.Cell {
        if app.pause != nil { return .init("paused", .red) }
        return app.full == nil ? .init("running", .green) : .init("full", .yellow)
    }

    private var leases: String {
        var table = Table([
            "APP": .left, "HOST": .left, "SHARDS": .right, "INTAKE": .left, "LEASE ENDS IN": .right,
        ])
        for app in status.apps {
            for owner in app.owners {
                let left = Double(owner.leaseMilliseconds) / 1000
                table.add(
                    .init(app.app), .init(owner.host), .init(String(owner.shards)),
                    .init(owner.hasIntake ? "yes" : ""),
                    .init(left > 0 ? "\((left * 10).rounded() / 10) s" : "ended", left > 0 ? nil : .red))
            }
            if app.unowned > 0 {
                table.add(
                    .init(app.app), .init("nobody", .yellow), .init(String(app.unowned)), .init(""),
                    .init(""))
            }
        }
        return table.text(colours: colours)
    }

    private var feedback: String? {
        var table = Table([
            "APP": .left, "FEEDBACK READ": .left, "TOKENS": .right, "IN ALL": .right, "NEXT": .left,
        ])
        for app in status.apps {
            guard let feedback = app.feedback else { continue }
            table.add(
                .init(app.app),
                feedback.failures > 0
                    ? .init("failed", .red)
                    : .init(
                        feedback.readAt > 0 ? Timestamp(milliseconds: feedback.readAt).description : "never"),
                .init(Figures.grouped(feedback.tuples)), .init(Figures.grouped(feedback.total)),
                .init(feedback.isReading ? "now" : Timestamp(milliseconds: feedback.due).description))
        }
        return table.isEmpty ? nil : table.text(colours: colours)
    }

    private var redis: String {
        let redis = status.redis
        let limit = redis.maxMemory == 0 ? "no limit" : "of " + Figures.bytes(Int64(redis.maxMemory))
        return
            "Redis \(redis.version)  \(Figures.bytes(Int64(redis.usedMemory))) \(limit)  \(redis.evictionPolicy)\n"
    }
}
