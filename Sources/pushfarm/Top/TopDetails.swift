import StoreProtocol

/// The details of a single host, worker, app or job. A list has no details.
struct TopDetails {
    let model: TopModel
    let columns: Int

    var lines: [TopLine] {
        guard let snapshot = model.snapshot else { return [] }
        switch model.view {
        case .list: return []
        case .host(let name): return host(name, snapshot.status)
        case .worker(let host, let index): return worker(host, index, snapshot.status)
        case .app(let name): return app(name, snapshot.status)
        case .job(let app, let id): return job(snapshot.jobs.first { $0.app == app && $0.id == id })
        case .campaign(let app, let id):
            return campaign(
                snapshot.status.campaigns.first { $0.app == app && $0.campaign == id },
                snapshot.jobs.first { $0.app == app && $0.id == id }, at: snapshot.status.at)
        }
    }

    private func line(_ name: String, _ text: String, _ paint: Paint? = nil) -> TopLine {
        var line = TopLine(name.padding(to: 12), .dim)
        line.add(text, paint)
        return line
    }

    private func chart(_ title: String, _ name: String, _ value: String) -> TopLine {
        var line = TopLine(title.padding(to: 12), .dim)
        line.add(value.leftPadded(to: 8) + "  ", .bold)
        line.add(model.history.sparkline(name, width: min(100, columns - line.width)), .cyan)
        return line
    }

    private func host(_ name: String, _ status: FarmStatus) -> [TopLine] {
        guard let host = status.hosts.first(where: { $0.host == name }) else {
            return [TopLine("\(name) no longer exists", .yellow)]
        }
        var lines = [
            line("state", host.state, TopModel.paint(of: host.state)),
            line(
                "coordinator",
                "\(host.pid)  up \(Figures.brief(.milliseconds(max(0, status.at - host.since))))"),
            chart("rate", TopView.host(name).name, "\(Figures.short(host.rate))/s"),
        ]
        if let intake = host.intake {
            lines.append(
                line(
                    "intake",
                    "\(Figures.pid(intake.pid))  \(intake.state)  \(Figures.grouped(intake.rate)) jobs/s  "
                        + "\(Figures.short(intake.jobs)) jobs  \(Figures.bytes(Int64(intake.rss)))  ended \(Figures.counted(intake.restarts, "time", "times"))"
                ))
        }
        return lines + [TopLine()]
    }

    private func worker(_ host: String, _ index: String, _ status: FarmStatus) -> [TopLine] {
        guard
            let worker = status.hosts.first(where: { $0.host == host })?.workers.first(where: {
                $0.worker == index
            })
        else { return [TopLine("worker \(host)/\(index) no longer exists", .yellow)] }
        let view = TopView.worker(host: host, index: index).name
        let up = worker.since > 0 ? Figures.brief(.milliseconds(max(0, status.at - worker.since))) : "–"
        var lines = [
            line("state", worker.state, TopModel.paint(of: worker.state)),
            line(
                "process",
                "\(Figures.pid(worker.pid))  up \(up)  ended \(Figures.counted(worker.restarts, "time", "times")) before"
            ),
            line("memory", Figures.bytes(Int64(worker.rss))),
            line("shards", "\(worker.shards)"),
            line("connections", "\(worker.connections)"), TopLine(),
            chart("rate", view, "\(Figures.short(worker.rate))/s"),
            chart("in flight", "streams " + view, Figures.short(worker.streams)),
            chart("processor", "busy " + view, "\(worker.busy) %"), TopLine(),
            line("delivered", Figures.grouped(worker.delivered), .green),
            line("failed", Figures.grouped(worker.failed), worker.failed > 0 ? .red : nil),
            line("retried", Figures.grouped(worker.retried)),
        ]
        if worker.slowedTo > 0 {
            lines.append(
                line("slowed to", "\(Figures.grouped(worker.slowedTo))/s: the gateway has problems", .yellow)
            )
        }
        return lines
    }

    private func app(_ name: String, _ status: FarmStatus) -> [TopLine] {
        guard let app = status.apps.first(where: { $0.app == name }) else {
            return [TopLine("\(name) no longer exists", .yellow)]
        }
        let (sums, view) = (status.sums(of: name), TopView.app(name).name)
        let reason = app.pause?.reason ?? app.full?.reason.text
        let owners = app.owners.map { "\($0.host) \($0.shards)\($0.hasIntake ? " and the intake" : "")" }
        func age(_ age: Duration?) -> String { age.map { "oldest \(Figures.brief($0))" } ?? "none waits" }
        func milliseconds(_ value: Int?) -> String { value.map { "\($0) ms" } ?? "–" }
        return [
            line("state", app.state.word + (reason.map { ": \($0)" } ?? ""), app.state.paint),
            chart("rate", view, "\(Figures.short(sums.rate))/s"),
            chart("errors", "errors " + view, "\(Figures.short(sums.errors))/s"),
            chart("open", "open " + view, Figures.short(app.depths.open)),
            line(
                "gateway",
                "p50 \(milliseconds(sums.p50))  p99 \(milliseconds(sums.p99))  \(sums.connections) connections  \(Figures.grouped(sums.streams)) in flight"
            ),
            line("high", "\(Figures.grouped(app.high)) batches ready  \(age(app.ages.high))"),
            line("bulk", "\(Figures.grouped(app.bulk)) batches ready  \(age(app.ages.bulk))"),
            line(
                "elsewhere",
                "\(Figures.short(app.inbox)) jobs in the inbox  \(Figures.short(app.depths.delayed)) batches delayed  "
                    + "\(app.depths.paused) paused  \(Figures.short(app.dead)) dead letters",
                app.depths.paused > 0 ? .yellow : nil),
            line("shards", owners.isEmpty ? "no owner" : owners.joined(separator: ", ")),
            TopLine(),
        ]
    }

    private func job(_ job: JobRecord?) -> [TopLine] {
        guard let job else { return [TopLine("its record was deleted, or is not among the latest", .yellow)] }
        let view = TopView.job(app: job.app, id: job.id).name
        let timeLeft = model.remainingSeconds(of: job).map { "  \(Figures.brief(.seconds($0))) left" } ?? ""
        var lines = [
            line(
                "state", job.pausedReason.map { "paused: \($0)" } ?? job.state.rawValue,
                job.pausedReason == nil ? nil : .red),
            line(
                "done",
                TopHistory.bar(job.share, width: min(40, columns - 34))
                    + " \(Int(clamping: job.share * 100)) %"
                    + timeLeft,
                .green),
            chart("rate", view, "\(Figures.short(Int(clamping: model.history.last(view) ?? 0)))/s"),
            TopLine(),
        ]
        lines += counts(of: job)
        return lines
    }

    private func campaign(_ campaign: HostStatus.Campaign?, _ job: JobRecord?, at now: Int64) -> [TopLine] {
        guard let campaign else { return [TopLine("the campaign is over: pushfarm campaigns show", .yellow)] }
        let view = TopView.campaign(app: campaign.app, id: campaign.campaign).name
        func span(_ milliseconds: Int64) -> String { Figures.brief(.milliseconds(milliseconds)) }
        let left = campaign.remaining.map { "  about \(span(Int64($0))) left" } ?? ""
        var lines = [
            line("state", campaign.word, TopModel.paint(of: campaign)),
            line("round", campaign.round > 0 ? "\(campaign.round) of \(campaign.rounds)" : "not begun"),
            line(
                "done",
                TopHistory.bar(campaign.share, width: min(40, columns - 34))
                    + " \(campaign.percent) %\(left)", .green),
            line(
                "devices",
                "\(Figures.grouped(campaign.handled)) of \(Figures.grouped(campaign.counted)) in this round"),
            chart("rate", view, "\(Figures.short(Int(clamping: model.history.last(view) ?? 0)))/s"),
            line(
                "next",
                campaign.next.map { "in \(span(max(0, Int64($0) - now)))" } ?? "no further round or window"),
            TopLine(),
        ]
        if let job { lines += counts(of: job) }
        return lines
    }

    private func counts(of job: JobRecord) -> [TopLine] {
        var lines = [
            line("accepted", Figures.grouped(job.accepted)),
            line("delivered", Figures.grouped(job.delivered), .green),
            line("failed", Figures.grouped(job.failed), job.failed > 0 ? .red : nil),
        ]
        for (reason, count) in job.reasons.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }).prefix(4) {
            lines.append(line("", "\(Figures.grouped(count)) \(reason)"))
        }
        return lines + [
            line("expired", Figures.grouped(job.expired)), line("cancelled", Figures.grouped(job.cancelled)),
            line("queued", Figures.grouped(job.queued)), line("in flight", Figures.grouped(job.inFlight)),
            line("delayed", Figures.grouped(job.delayed)),
            line("duplicated", Figures.grouped(job.maybeDuplicated), job.maybeDuplicated > 0 ? .yellow : nil),
        ]
    }
}
