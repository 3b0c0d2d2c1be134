import FarmLogging
import RedisClient
import StoreProtocol

/// Turns a model into the lines of a screen of a given size.
struct TopScreen {
    let model: TopModel
    let columns: Int
    let rows: Int

    /// The smallest usable screen.
    static let least = (columns: 40, rows: 8)

    /// The lines of the screen, one for each row.
    var lines: [TopLine] {
        guard columns >= Self.least.columns, rows >= Self.least.rows else {
            return fit([TopLine("the window is too small", .yellow)], [])
        }
        if model.showsHelp { return fit([title, TopLine()] + help, [footer]) }
        guard let snapshot = model.snapshot else {
            let words =
                model.awaySince == nil
                ? TopLine("looking …", .dim) : TopLine("! Redis: " + model.awayReason, .red)
            return fit([title, TopLine(), words], [footer])
        }
        let head =
            [title, rates(snapshot.status), redis(snapshot.status)] + troubles(snapshot.status) + [
                TopLine(), trail,
            ]
        return fit(head + body(rows - head.count - 1), [footer])
    }

    /// The number of list rows on the screen, which is one page.
    var page: Int {
        guard let snapshot = model.snapshot else { return 1 }
        let above = 5 + troubles(snapshot.status).count + details.count
        return max(1, rows - above - 2)
    }

    private func fit(_ top: [TopLine], _ bottom: [TopLine]) -> [TopLine] {
        var lines = Array(top.prefix(max(0, rows - bottom.count)))
        while lines.count < rows - bottom.count { lines.append(TopLine()) }
        return (lines + bottom).map { $0.cut(to: columns) }
    }

    // MARK: Head

    private var title: TopLine {
        var line = TopLine("pushfarm top", .bold)
        if let status = model.snapshot?.status {
            let alive = status.live
            let workers = alive.reduce(0) { $0 + $1.workers.count }
            line.add("  \(words(alive.count, "host"))  \(words(workers, "worker"))", .dim)
            line.add("  \(words(status.apps.count, "app"))", .dim)
        }
        let (state, paint): (String, Paint) =
            model.awaySince.map { ("Redis away since \(Self.clock($0))", .red) }
            ?? (model.snapshot == nil ? ("…", .dim) : model.isPaused ? ("paused", .yellow) : ("live", .green))
        let time = model.snapshot.map { Self.clock($0.status.at) + "  " } ?? ""
        line.end(with: time + "● " + state, paint, at: columns)
        return line
    }

    private func words(_ count: Int, _ name: String) -> String { "\(count) \(name)\(count == 1 ? "" : "s")" }

    private func rates(_ status: FarmStatus) -> TopLine {
        let sums = status.apps.map { status.sums(of: $0.app) }
        let errors = sums.reduce(0) { $0 + $1.errors }
        let responses = sums.reduce(errors) { $0 + $1.rate }
        let open = status.apps.reduce(0) { $0 + $1.depths.open }
        let oldest = status.apps.compactMap(\.ages.oldest).max()
        var line = TopLine("\(Figures.grouped(Int(clamping: model.history.last("farm") ?? 0)))/s ", .bold)
        var rest = TopLine("  errors ")
        let share = responses > 0 ? Double(errors) * 100 / Double(responses) : 0
        rest.add("\((share * 10).rounded() / 10) %", share >= 5 ? .red : share >= 1 ? .yellow : nil)
        rest.add("  open \(Figures.short(open))  oldest \(oldest.map { Figures.brief($0) } ?? "–")")
        let width = min(80, max(8, columns - line.width - rest.width))
        line.add(model.history.sparkline("farm", width: width), .cyan)
        line.add(rest)
        return line
    }

    private func redis(_ status: FarmStatus) -> TopLine {
        let redis = status.redis
        var line = TopLine("Redis \(redis.version)  \(Figures.bytes(Int64(redis.usedMemory)))", .dim)
        if redis.memoryLimit > 0 {
            let share = Double(redis.countedMemory) / Double(redis.memoryLimit)
            line.add(" of \(Figures.bytes(Int64(redis.memoryLimit)))  ", .dim)
            line.add(TopHistory.bar(share, width: 10), share >= 0.7 ? .red : .dim)
            line.add(" \(Int(clamping: share * 100)) %", share >= 0.7 ? .red : .dim)
        }
        return line
    }

    /// The problems, in at most three lines.
    private func troubles(_ status: FarmStatus) -> [TopLine] {
        var troubles = status.troubles
        if model.awaySince != nil { troubles.insert("Redis: \(model.awayReason)", at: 0) }
        let most = rows < 20 ? 1 : 3
        guard troubles.count > most else { return troubles.map { TopLine("! " + $0, .red) } }
        return troubles.prefix(most - 1).map { TopLine("! " + $0, .red) }
            + [TopLine("! \(troubles.count - most + 1) more troubles: pushfarm status", .red)]
    }

    /// The names of the lists, and the path to the present view.
    private var trail: TopLine {
        var line = TopLine()
        for list in TopView.List.allCases {
            let isHere = model.stack[0] == .list(list)
            line.add("\(list.rawValue + 1) ", .dim)
            line.add(list.title, isHere ? .bold : .dim)
            line.add("  ")
        }
        for view in model.stack.dropFirst() { line.add("› \(name(view)) ", .bold) }
        return line
    }

    private func name(_ view: TopView) -> String {
        switch view {
        case .list(let list): list.title
        case .host(let host): host
        case .worker(let host, let index): "worker \(host)/\(index)"
        case .app(let app): app
        case .job(_, let id), .campaign(_, let id): id
        }
    }

    // MARK: Body

    private func body(_ room: Int) -> [TopLine] {
        let details = details
        guard var table = model.table else { return Array(details.prefix(room)) }
        guard !table.rows.isEmpty else { return details + [TopLine(nothing, .dim)] }
        let selected = model.selected
        let at = table.rows.firstIndex { $0.view == selected } ?? 0
        for index in table.rows.indices { table.rows[index].isSelected = index == at }
        let all = table.lines(width: columns)
        let shown = max(1, room - details.count - 1)
        // The selected row is always on the screen.
        let first = min(max(0, at - shown + 1), max(0, table.rows.count - shown))
        return details + [all[0]] + all.dropFirst(1 + first).prefix(shown)
    }

    private var nothing: String {
        switch model.sortedList {
        case .jobs: "no jobs"
        case .campaigns: "no campaign runs or waits for its start"
        case .workers: "no workers"
        case .hosts: "no coordinator is running"
        default: "no apps"
        }
    }

    /// The details of a single item, above its list.
    private var details: [TopLine] { TopDetails(model: model, columns: columns).lines }

    // MARK: Foot

    private var footer: TopLine {
        let keys =
            columns < 64
            ? "↑↓ ⏎ esc  s sort  ? help  q quit"
            : "↑↓ select  ⏎ show details  esc back  s sort  r reverse  p pause  ? help  q quit"
        return TopLine(keys, .dim)
    }

    private var help: [TopLine] {
        [
            ("1 2 3 4 5, tab", "apps, workers, hosts, jobs, campaigns"), ("↑ ↓ k j, pages", "select a row"),
            ("⏎ →", "show details"), ("esc ← ⌫", "back"), ("s", "sort by the next column"),
            ("r", "reverse the order"), ("p", "pause, continue"), ("q, ctrl-C", "quit"), ("", ""),
            ("RATE/S", "pushes that got an outcome in the last second"),
            ("ERR%", "responses that were errors, without invalid tokens"),
            ("P50, P99", "the gateway's response times of the last ten seconds"),
            ("OPEN", "pushes without an outcome"), ("OLDEST", "how long the oldest of them has waited"),
            ("NEXT", "the time until the next round or window of a campaign"),
            ("RESTARTS", "crashes and kills of a worker's process"),
        ].map { keys, words in
            var line = TopLine(keys.padding(to: 18), .bold)
            line.add(words)
            return line
        }
    }

    /// The time of day as hours, minutes and seconds in UTC.
    static func clock(_ milliseconds: Int64) -> String {
        String(Timestamp(milliseconds: milliseconds).description.dropFirst(11).prefix(8))
    }
}
