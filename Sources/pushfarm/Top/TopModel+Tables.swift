import StoreProtocol

/// Lists, as tables with what each is sorted by.
extension TopModel {
    private typealias Key = (number: Double, text: String)

    /// The list of the present place; nil when it has none.
    var table: TopTable? {
        guard let status = look?.status else { return nil }
        switch place {
        case .list(.apps): return apps(status)
        case .list(.workers): return workers(status.hosts)
        case .list(.hosts): return hosts(status)
        case .list(.jobs): return jobs(look?.jobs ?? [])
        case .host(let name): return workers(status.hosts.filter { $0.host == name })
        case .app(let name): return jobs((look?.jobs ?? []).filter { $0.app == name })
        case .worker, .job: return nil
        }
    }

    /// Puts rows in order by a column, those that are equal by their names.
    private func make(
        _ list: TopPlace.List, _ columns: [TopTable.Column], by usual: (column: Int, isDescending: Bool),
        _ rows: [(TopPlace, [(TopTable.Cell, Key)])]
    ) -> TopTable {
        let sort = sorts[list] ?? usual
        let sorted = rows.sorted { one, other in
            let (first, second) = (one.1[sort.column].1, other.1[sort.column].1)
            if first.number != second.number { return (first.number < second.number) != sort.isDescending }
            if first.text != second.text { return (first.text < second.text) != sort.isDescending }
            return one.1[0].1.text < other.1[0].1.text
        }
        var table = TopTable(
            columns: columns, rows: sorted.map { TopTable.Row(place: $0.0, cells: $0.1.map(\.0)) })
        table.sorted = sort
        return table
    }

    private static func number(_ value: Int, _ paint: Paint? = nil) -> (TopTable.Cell, Key) {
        (.text(Figures.short(value), paint), (Double(value), ""))
    }

    private static func word(_ text: String, _ paint: Paint? = nil) -> (TopTable.Cell, Key) {
        (.text(text, paint), (0, text))
    }

    private static func share(_ part: Int, of all: Int) -> (TopTable.Cell, Key) {
        guard part > 0, all > 0 else { return (.text("0"), (0, "")) }
        let share = Double(part) * 100 / Double(all)
        let text = share >= 10 ? "\(Int(clamping: share.rounded()))" : "\((share * 10).rounded() / 10)"
        return (.text(text, share >= 5 ? .red : share >= 1 ? .yellow : nil), (share, ""))
    }

    private static func time(_ milliseconds: Int?, _ mark: Int? = nil) -> (TopTable.Cell, Key) {
        guard let milliseconds else { return (.text("–", .dim), (-1, "")) }
        let text =
            milliseconds < 10_000 ? "\(milliseconds) ms" : Figures.brief(.milliseconds(milliseconds))
        return (.text(text, mark.map { milliseconds > $0 ? .red : nil } ?? nil), (Double(milliseconds), ""))
    }

    private func trend(_ name: String) -> (TopTable.Cell, Key) {
        (.trend(history.values(name)), (history.last(name) ?? 0, ""))
    }

    // MARK: Lists

    private func apps(_ status: FarmStatus) -> TopTable {
        let columns: [TopTable.Column] = [
            .init(title: "APP", isRight: false), .init(title: "STATE", isRight: false),
            .init(title: "RATE/S"), .init(title: "", rank: 4, isTrend: true), .init(title: "ERR%"),
            .init(title: "P50", rank: 5), .init(title: "P99", rank: 2), .init(title: "OPEN"),
            .init(title: "OLDEST"), .init(title: "DELAYED", rank: 6), .init(title: "DEAD", rank: 3),
            .init(title: "CONNS", rank: 8), .init(title: "STREAMS", rank: 7),
        ]
        let rows = status.apps.map { app in
            let sums = status.sums(of: app.app)
            let state: (String, Paint) =
                app.pause != nil
                ? ("paused", .red) : app.full != nil ? ("full", .yellow) : ("running", .green)
            let oldest = app.ages.oldest
            return (
                TopPlace.app(app.app),
                [
                    Self.word(app.app), Self.word(state.0, state.1), Self.number(sums.rate),
                    trend(TopPlace.app(app.app).name), Self.share(sums.errors, of: sums.rate + sums.errors),
                    Self.time(sums.p50), Self.time(sums.p99), Self.number(app.depths.open),
                    (
                        .text(oldest.map { Figures.brief($0) } ?? "–", oldest == nil ? .dim : nil),
                        (oldest.map { $0 / .seconds(1) } ?? -1, "")
                    ), Self.number(app.depths.delayed), Self.number(app.dead, app.dead > 0 ? .yellow : nil),
                    Self.number(sums.connections), Self.number(sums.streams),
                ]
            )
        }
        return make(.apps, columns, by: (2, true), rows)
    }

    private func workers(_ hosts: [HostStatus]) -> TopTable {
        let columns: [TopTable.Column] = [
            .init(title: "WORKER", isRight: false), .init(title: "STATE", isRight: false),
            .init(title: "RATE/S"), .init(title: "", rank: 4, isTrend: true), .init(title: "FAILED", rank: 6),
            .init(title: "SHARDS", rank: 5), .init(title: "CONNS", rank: 3), .init(title: "STREAMS", rank: 2),
            .init(title: "BUSY%"), .init(title: "MEMORY"), .init(title: "UP", rank: 7),
            .init(title: "RESTARTS", rank: 1), .init(title: "PID", rank: 8),
        ]
        let now = look?.status.at ?? 0
        let rows = hosts.flatMap { host in
            host.workers.map { worker in
                let place = TopPlace.worker(host: host.host, index: worker.worker)
                let isGone = host.state == "gone"
                let state: (String, Paint) =
                    isGone ? ("gone", .red) : (worker.state, Self.paint(of: worker.state))
                let up = worker.since > 0 && !isGone ? max(0, now - worker.since) : 0
                return (
                    place,
                    [
                        Self.word("\(host.host)/\(worker.worker)"), Self.word(state.0, state.1),
                        Self.number(isGone ? 0 : worker.rate, worker.slowedTo > 0 ? .yellow : nil),
                        trend(place.name), Self.number(worker.failed), Self.number(worker.shards),
                        Self.number(worker.connections), Self.number(worker.streams),
                        Self.number(worker.busy, worker.busy >= 90 ? .yellow : nil),
                        (.text(Figures.bytes(Int64(worker.rss))), (Double(worker.rss), "")),
                        (.text(up > 0 ? Figures.brief(.milliseconds(up)) : "–"), (Double(up), "")),
                        Self.number(worker.restarts, worker.restarts > 0 ? .yellow : nil),
                        (.text(Figures.pid(worker.pid)), (Double(worker.pid ?? 0), "")),
                    ] as [(TopTable.Cell, Key)]
                )
            }
        }
        return make(.workers, columns, by: (2, true), rows)
    }

    private func hosts(_ status: FarmStatus) -> TopTable {
        let columns: [TopTable.Column] = [
            .init(title: "HOST", isRight: false), .init(title: "STATE", isRight: false),
            .init(title: "WORKERS"), .init(title: "RATE/S"), .init(title: "", rank: 2, isTrend: true),
            .init(title: "INTAKE", isRight: false), .init(title: "JOBS/S", rank: 1),
            .init(title: "MEMORY", rank: 3), .init(title: "UP", rank: 4), .init(title: "RESTARTS", rank: 5),
        ]
        let rows = status.hosts.map { host in
            let isGone = host.state == "gone"
            let ready = host.workers.count { $0.state == "ready" }
            let memory = host.workers.reduce(host.intake?.rss ?? 0) { $0 + $1.rss }
            let up = host.since > 0 && !isGone ? max(0, status.at - host.since) : 0
            let ended = host.workers.reduce(host.intake?.restarts ?? 0) { $0 + $1.restarts }
            let intake = isGone ? "–" : host.intake?.state ?? "–"
            return (
                TopPlace.host(host.host),
                [
                    Self.word(host.host), Self.word(host.state, Self.paint(of: host.state)),
                    (
                        .text(
                            "\(isGone ? 0 : ready)/\(host.workers.count)",
                            ready < host.workers.count ? .yellow : nil),
                        (Double(ready), "")
                    ),
                    Self.number(isGone ? 0 : host.workers.reduce(0) { $0 + $1.rate }),
                    trend(TopPlace.host(host.host).name), Self.word(intake, Self.paint(of: intake)),
                    Self.number(isGone ? 0 : host.intake?.rate ?? 0),
                    (.text(Figures.bytes(Int64(memory))), (Double(memory), "")),
                    (.text(up > 0 ? Figures.brief(.milliseconds(up)) : "–"), (Double(up), "")),
                    Self.number(ended, ended > 0 ? .yellow : nil),
                ] as [(TopTable.Cell, Key)]
            )
        }
        return make(.hosts, columns, by: (0, false), rows)
    }

    private func jobs(_ jobs: [JobRecord]) -> TopTable {
        let columns: [TopTable.Column] = [
            .init(title: "JOB", isRight: false, most: 28),
            .init(title: "APP", isRight: false, rank: 5, most: 16),
            .init(title: "DONE", isRight: false), .init(title: "RATE/S"),
            .init(title: "", rank: 4, isTrend: true), .init(title: "OPEN"), .init(title: "FAILED", rank: 2),
            .init(title: "LEFT"), .init(title: "AGE", rank: 3),
        ]
        let now = look?.status.at ?? 0
        let rows = jobs.map { job in
            let place = TopPlace.job(app: job.app, id: job.id)
            let share = job.accepted > 0 ? Double(job.settled) / Double(job.accepted) : 1
            let left = secondsLeft(of: job)
            let age = max(0, now - job.createdAt)
            return (
                place,
                [
                    Self.word(job.id, job.parked == nil ? nil : .red), Self.word(job.app),
                    (
                        .text(
                            TopHistory.bar(share, width: 10)
                                + " \(Int(clamping: share * 100)) %".leftPadded(to: 6),
                            .green),
                        (share, "")
                    ),
                    Self.number(Int(clamping: history.last(place.name) ?? 0)), trend(place.name),
                    // Of those with as many, the latest first.
                    (
                        .text(Figures.short(job.accepted - job.settled)),
                        (Double(job.accepted - job.settled), String(job.createdAt))
                    ), Self.number(job.failed, job.failed > 0 ? .red : nil),
                    (
                        .text(
                            job.state == .finished
                                ? "done"
                                : job.parked != nil
                                    ? "paused"
                                    : left.map { Figures.brief(.seconds($0)) } ?? "–"),
                        (Double(left ?? -1), "")
                    ), (.text(Figures.brief(.milliseconds(age))), (Double(age), "")),
                ] as [(TopTable.Cell, Key)]
            )
        }
        return make(.jobs, columns, by: (5, true), rows)
    }

    /// By the rate of the last looks; nil when that says nothing.
    func secondsLeft(of job: JobRecord) -> Int? {
        let recent = history.values(TopPlace.job(app: job.app, id: job.id).name).suffix(10)
        guard !recent.isEmpty, job.state == .open else { return nil }
        let rate = recent.reduce(0, +) / Double(recent.count)
        let open = job.accepted - job.settled
        return rate > 0.1 ? Int(clamping: min(1e9, (Double(open) / rate).rounded(.up))) : nil
    }

    static func paint(of state: String) -> Paint {
        switch state {
        case "ready", "running": .green
        case "gone", "failed", "backing-off": .red
        default: .yellow
        }
    }
}
