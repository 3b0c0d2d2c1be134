import StoreProtocol

/// Lists as tables with their sort columns.
extension TopModel {
    private typealias Cell = TopTable.Cell

    /// A column of a list, with the value that it shows for an item.
    private struct Column<Item> {
        let format: TopTable.Column
        let cell: (Item) -> Cell

        static func words(
            _ title: String, rank: Int = 0, most: Int = 24, _ cell: @escaping (Item) -> Cell
        ) -> Column {
            Column(format: .init(title: title, isRight: false, rank: rank, most: most), cell: cell)
        }

        static func numbers(_ title: String, rank: Int = 0, _ cell: @escaping (Item) -> Cell) -> Column {
            Column(format: .init(title: title, rank: rank), cell: cell)
        }

        static func trend(rank: Int, _ values: @escaping (Item) -> [Double]) -> Column {
            Column(format: .init(title: "", rank: rank, isTrend: true)) { Cell(trend: values($0)) }
        }
    }

    /// The list of the present view, or nil when the view has no list.
    var table: TopTable? {
        guard let snapshot else { return nil }
        let (status, now) = (snapshot.status, snapshot.status.at)
        switch view {
        case .list(.apps): return apps(status)
        case .list(.workers): return workers(status.hosts, at: now)
        case .list(.hosts): return hosts(status.hosts, at: now)
        case .list(.jobs): return jobs(snapshot.jobs, at: now)
        case .list(.campaigns): return campaigns(status.campaigns, at: now)
        case .host(let name): return workers(status.hosts.filter { $0.host == name }, at: now)
        case .app(let name): return jobs(snapshot.jobs.filter { $0.app == name }, at: now)
        case .worker, .job, .campaign: return nil
        }
    }

    private func table<Item>(
        _ list: TopView.List, _ items: [Item], by usual: (column: Int, isDescending: Bool),
        _ columns: [Column<Item>], view: (Item) -> TopView
    ) -> TopTable {
        TopTable(
            columns: columns.map(\.format),
            rows: items.map { item in .init(view: view(item), cells: columns.map { $0.cell(item) }) },
            sorted: sorts[list] ?? usual)
    }

    /// A number that is highlighted unless it is 0.
    private static func alarm(_ value: Int, _ paint: Paint = .yellow) -> Cell {
        .number(value, value > 0 ? paint : nil)
    }

    private static func share(_ part: Int, of all: Int) -> Cell {
        guard part > 0, all > 0 else { return .number(0) }
        let share = Double(part) * 100 / Double(all)
        let text = share >= 10 ? "\(Int(clamping: share.rounded()))" : "\((share * 10).rounded() / 10)"
        return .number(share, text, share >= 5 ? .red : share >= 1 ? .yellow : nil)
    }

    private static func time(_ milliseconds: Int?) -> Cell {
        guard let milliseconds else { return .number(-1, "–", .dim) }
        let text =
            milliseconds < 10_000 ? "\(milliseconds) ms" : Figures.brief(.milliseconds(milliseconds))
        return .number(Double(milliseconds), text)
    }

    private static func bytes(_ count: Int) -> Cell { .number(Double(count), Figures.bytes(Int64(count))) }

    private static func up(since start: Int64, at now: Int64) -> Cell {
        let age = start > 0 ? max(0, now - start) : 0
        return .number(Double(age), age > 0 ? Figures.brief(.milliseconds(age)) : "–")
    }

    // MARK: Lists

    private func apps(_ status: FarmStatus) -> TopTable {
        let columns: [Column<(app: AppStatus, sums: FarmStatus.Sums)>] = [
            .words("APP") { .word($0.app.app) },
            .words("STATE") { .word($0.app.state.word, $0.app.state.paint) },
            .numbers("RATE/S") { .number($0.sums.rate) },
            .trend(rank: 4) { history.values(TopView.app($0.app.app).name) },
            .numbers("ERR%") { Self.share($0.sums.errors, of: $0.sums.rate + $0.sums.errors) },
            .numbers("P50", rank: 5) { Self.time($0.sums.p50) },
            .numbers("P99", rank: 2) { Self.time($0.sums.p99) },
            .numbers("OPEN") { .number($0.app.depths.open) },
            .numbers("OLDEST") {
                guard let oldest = $0.app.ages.oldest else { return .number(-1, "–", .dim) }
                return .number(oldest / .seconds(1), Figures.brief(oldest))
            },
            .numbers("DELAYED", rank: 6) { .number($0.app.depths.delayed) },
            .numbers("DEAD", rank: 3) { Self.alarm($0.app.dead) },
            .numbers("CONNS", rank: 8) { .number($0.sums.connections) },
            .numbers("STREAMS", rank: 7) { .number($0.sums.streams) },
        ]
        let items = status.apps.map { (app: $0, sums: status.sums(of: $0.app)) }
        return table(.apps, items, by: (2, true), columns) { .app($0.app.app) }
    }

    private func workers(_ hosts: [HostStatus], at now: Int64) -> TopTable {
        let columns: [Column<(host: String, worker: HostStatus.WorkerStatus)>] = [
            .words("WORKER") { .word("\($0.host)/\($0.worker.worker)") },
            .words("STATE") { .word($0.worker.state, Self.paint(of: $0.worker.state)) },
            .numbers("RATE/S") { .number($0.worker.rate, $0.worker.slowedTo > 0 ? .yellow : nil) },
            .trend(rank: 4) { history.values(TopView.worker(host: $0.host, index: $0.worker.worker).name) },
            .numbers("FAILED", rank: 6) { .number($0.worker.failed) },
            .numbers("SHARDS", rank: 5) { .number($0.worker.shards) },
            .numbers("CONNS", rank: 3) { .number($0.worker.connections) },
            .numbers("STREAMS", rank: 2) { .number($0.worker.streams) },
            .numbers("BUSY%") { .number($0.worker.busy, $0.worker.busy >= 90 ? .yellow : nil) },
            .numbers("MEMORY") { Self.bytes($0.worker.rss) },
            .numbers("UP", rank: 7) { Self.up(since: $0.worker.since, at: now) },
            .numbers("RESTARTS", rank: 1) { Self.alarm($0.worker.restarts) },
            .numbers("PID", rank: 8) { .number(Double($0.worker.pid ?? 0), Figures.pid($0.worker.pid)) },
        ]
        let items = hosts.flatMap { host in host.workers.map { (host: host.host, worker: $0) } }
        return table(.workers, items, by: (2, true), columns) {
            .worker(host: $0.host, index: $0.worker.worker)
        }
    }

    private func hosts(_ hosts: [HostStatus], at now: Int64) -> TopTable {
        let columns: [Column<HostStatus>] = [
            .words("HOST") { .word($0.host) },
            .words("STATE") { .word($0.state, Self.paint(of: $0.state)) },
            .numbers("WORKERS") {
                let (ready, all) = ($0.workers.count { $0.state == "ready" }, $0.workers.count)
                return .number(Double(ready), "\(ready)/\(all)", ready < all ? .yellow : nil)
            },
            .numbers("RATE/S") { .number($0.rate) },
            .trend(rank: 2) { history.values(TopView.host($0.host).name) },
            .words("INTAKE") {
                let state = $0.isGone ? "–" : $0.intake?.state ?? "–"
                return .word(state, Self.paint(of: state))
            },
            .numbers("JOBS/S", rank: 1) { .number($0.intake?.rate ?? 0) },
            .numbers("MEMORY", rank: 3) {
                Self.bytes($0.workers.reduce($0.intake?.rss ?? 0) { $0 + $1.rss })
            },
            .numbers("UP", rank: 4) { Self.up(since: $0.isGone ? 0 : $0.since, at: now) },
            .numbers("RESTARTS", rank: 5) {
                Self.alarm($0.workers.reduce($0.intake?.restarts ?? 0) { $0 + $1.restarts })
            },
        ]
        return table(.hosts, hosts, by: (0, false), columns) { .host($0.host) }
    }

    private func jobs(_ jobs: [JobRecord], at now: Int64) -> TopTable {
        func name(_ job: JobRecord) -> String { TopView.job(app: job.app, id: job.id).name }
        let columns: [Column<JobRecord>] = [
            .words("JOB", most: 28) { .word($0.id, $0.pausedReason == nil ? nil : .red) },
            .words("APP", rank: 5, most: 16) { .word($0.app) },
            .words("DONE") {
                let percent = "\(Int(clamping: $0.share * 100)) %".leftPadded(to: 6)
                return .number($0.share, TopHistory.bar($0.share, width: 10) + " " + percent, .green)
            },
            .numbers("RATE/S") { .number(Int(clamping: history.last(name($0)) ?? 0)) },
            .trend(rank: 4) { history.values(name($0)) },
            .numbers("OPEN") {
                var open = Cell.number($0.accepted - $0.settled)
                // Among jobs with equal counts, the latest comes first.
                open.order.word = String($0.createdAt)
                return open
            },
            .numbers("FAILED", rank: 2) { Self.alarm($0.failed, .red) },
            .numbers("LEFT") {
                let remaining = remainingSeconds(of: $0)
                let time = remaining.map { Figures.brief(.seconds($0)) } ?? "–"
                let text = $0.state == .finished ? "done" : $0.pausedReason != nil ? "paused" : time
                return .number(Double(remaining ?? -1), text)
            },
            .numbers("AGE", rank: 3) {
                let age = max(0, now - $0.createdAt)
                return .number(Double(age), Figures.brief(.milliseconds(age)))
            },
        ]
        return table(.jobs, jobs, by: (5, true), columns) { .job(app: $0.app, id: $0.id) }
    }

    private func campaigns(_ campaigns: [HostStatus.Campaign], at now: Int64) -> TopTable {
        typealias Campaign = HostStatus.Campaign
        func name(_ campaign: Campaign) -> String {
            TopView.campaign(app: campaign.app, id: campaign.campaign).name
        }
        let columns: [Column<Campaign>] = [
            .words("CAMPAIGN", most: 28) { .word($0.campaign) },
            .words("APP", rank: 5, most: 16) { .word($0.app) },
            .words("STATE") { .word($0.word, Self.paint(of: $0)) },
            .words("DONE") {
                let percent = "\($0.percent) %".leftPadded(to: 6)
                return .number($0.share, TopHistory.bar($0.share, width: 10) + " " + percent, .green)
            },
            .numbers("RATE/S") { .number(Int(clamping: history.last(name($0)) ?? 0)) },
            .trend(rank: 4) { history.values(name($0)) },
            .numbers("LEFT") { Self.span($0.remaining.map { Int64($0) }) },
            .numbers("NEXT", rank: 1) { Self.span($0.next.map { max(0, Int64($0) - now) }) },
            .numbers("ROUND", rank: 3) {
                .number(Double($0.round), $0.round > 0 ? "\($0.round)/\($0.rounds)" : "–")
            },
        ]
        return table(.campaigns, campaigns, by: (4, true), columns) {
            .campaign(app: $0.app, id: $0.campaign)
        }
    }

    /// A time in milliseconds.
    private static func span(_ milliseconds: Int64?) -> Cell {
        guard let milliseconds else { return .number(-1, "–", .dim) }
        return .number(Double(milliseconds), Figures.brief(.milliseconds(milliseconds)))
    }

    static func paint(of campaign: HostStatus.Campaign) -> Paint {
        campaign.isLate ? .red : campaign.state == "running" ? .green : .yellow
    }

    /// The remaining seconds at the rate of the last updates, or nil when the rate is 0 or unknown.
    func remainingSeconds(of job: JobRecord) -> Int? {
        let recent = history.values(TopView.job(app: job.app, id: job.id).name).suffix(10)
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

extension JobRecord {
    /// The share of the job's pushes that have an outcome, or 1 for a job without pushes.
    var share: Double { accepted > 0 ? Double(settled) / Double(accepted) : 1 }
}
