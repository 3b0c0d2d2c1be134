import StoreProtocol

/// The state of `top`: the farm data and the reader's view. The model gets keys, snapshots and sizes, and
/// ``TopScreen`` turns the model into lines. The model uses no terminal and no clock.
struct TopModel {
    /// One snapshot of the farm.
    struct Snapshot: Sendable {
        var status: FarmStatus
        /// The jobs of the apps that the reader views in detail.
        var jobs: [JobRecord] = []
    }

    /// The action after a key.
    enum Action: Equatable {
        case nothing, draw, refresh, quit, suspend
    }

    private(set) var snapshot: Snapshot?
    private(set) var history = TopHistory()
    private(set) var stack: [TopView] = [.list(.apps)]
    /// The sort column of each list.
    private(set) var sorts: [TopView.List: (column: Int, isDescending: Bool)] = [:]
    private var selection: [TopView: TopView] = [:]
    private(set) var isPaused = false
    private(set) var showsHelp = false
    /// The time since which Redis is unreachable, in Unix milliseconds of this host's clock.
    private(set) var awaySince: Int64?
    private(set) var awayReason = ""
    /// For each job, the number of pushes that had an outcome at the last snapshot, and for each campaign, the number of devices
    /// that it had handled; each with the time of the snapshot.
    private var counted: [String: (count: Int, at: Int64)] = [:]

    var view: TopView { stack[stack.count - 1] }

    // MARK: Snapshots

    mutating func take(_ snapshot: Snapshot) {
        (awaySince, awayReason) = (nil, "")
        guard !isPaused else { return }
        self.snapshot = snapshot
        history.begin()
        let status = snapshot.status
        var farm = 0
        for host in status.hosts {
            for worker in host.workers {
                let name = TopView.worker(host: host.host, index: worker.worker).name
                history.note(name, Double(worker.rate))
                history.note("streams " + name, Double(worker.streams))
                history.note("busy " + name, Double(worker.busy))
            }
            history.note(TopView.host(host.host).name, Double(host.rate))
            farm += host.rate
        }
        history.note(TopView.list(.apps).name, Double(farm))
        for app in status.apps {
            let sums = status.sums(of: app.app)
            history.note(TopView.app(app.app).name, Double(sums.rate))
            history.note("errors " + TopView.app(app.app).name, Double(sums.errors))
            history.note("open " + TopView.app(app.app).name, Double(app.depths.open))
        }
        noteRates(
            snapshot.jobs.map { (TopView.job(app: $0.app, id: $0.id).name, $0.settled) }
                + status.campaigns.map { (TopView.campaign(app: $0.app, id: $0.campaign).name, $0.total) },
            at: status.at)
    }

    mutating func lost(_ reason: String, at now: Int64) {
        if awaySince == nil { awaySince = now }
        awayReason = reason
    }

    /// Notes the rates of jobs and campaigns since the last snapshot.
    private mutating func noteRates(_ counts: [(name: String, count: Int)], at now: Int64) {
        var next: [String: (count: Int, at: Int64)] = [:]
        for (name, count) in counts {
            next[name] = (count, now)
            guard let last = counted[name], now > last.at else { continue }
            history.note(name, Double(count - last.count) * 1000 / Double(now - last.at))
        }
        counted = next
    }

    /// The apps whose jobs the present view shows, or nil if it shows no jobs.
    var wantsJobs: [String]? {
        switch view {
        case .list(.jobs): snapshot?.status.apps.map(\.app) ?? []
        case .app(let app): [app]
        default: nil
        }
    }

    /// The job, or the job of the campaign, that the reader views alone. This job may not be among the latest jobs of its app, so it must be read
    /// separately.
    var wantsJob: (app: String, id: String)? {
        switch view {
        case .job(let app, let id), .campaign(let app, let id): (app, id)
        default: nil
        }
    }

    // MARK: Keys

    /// - Parameter page: the number of list rows that the screen shows.
    mutating func press(_ key: TopKey, page: Int) -> Action {
        if showsHelp, key != .interrupt {
            showsHelp = false
            return .draw
        }
        switch key {
        case .interrupt, .character("q"): return .quit
        case .suspend: return .suspend
        case .up, .character("k"): move(by: -1)
        case .down, .character("j"): move(by: 1)
        case .pageUp: move(by: -max(1, page))
        case .pageDown, .character(" "): move(by: max(1, page))
        case .home: move(by: -1_000_000)
        case .end: move(by: 1_000_000)
        case .enter: return enter()
        case .back: return goBack()
        case .tab: return show(next)
        case .character("s"): sortByNext()
        case .character("r"): reverseSort()
        case .character("p"): isPaused.toggle()
        case .character("?"), .character("h"): showsHelp = true
        case .character(let digit):
            guard let number = digit.wholeNumberValue, let list = TopView.List(rawValue: number - 1) else {
                return .nothing
            }
            return show(list)
        }
        return .draw
    }

    private var next: TopView.List {
        guard case .list(let list) = stack[0] else { return .apps }
        return TopView.List(rawValue: (list.rawValue + 1) % TopView.List.allCases.count) ?? .apps
    }

    private mutating func show(_ list: TopView.List) -> Action {
        stack = [.list(list)]
        return list == .jobs ? .refresh : .draw
    }

    private mutating func enter() -> Action {
        guard let selected else { return .nothing }
        stack.append(selected)
        return .refresh
    }

    private mutating func goBack() -> Action {
        guard stack.count > 1 else { return .nothing }
        stack.removeLast()
        return .draw
    }

    // MARK: Selection

    /// The highlighted row. If the row has disappeared, the first row is highlighted.
    var selected: TopView? {
        let views = rows.map(\.view)
        return selection[view].flatMap { views.contains($0) ? $0 : nil } ?? views.first
    }

    private mutating func move(by step: Int) {
        let views = rows.map(\.view)
        guard !views.isEmpty else { return }
        let at = selected.flatMap { views.firstIndex(of: $0) } ?? 0
        selection[view] = views[min(max(0, at + step), views.count - 1)]
    }

    private var rows: [TopTable.Row] { table?.rows ?? [] }

    // MARK: Order

    var sortedList: TopView.List? {
        switch view {
        case .list(let list): list
        case .host: .workers
        case .app: .jobs
        case .worker, .job, .campaign: nil
        }
    }

    private mutating func sortByNext() {
        guard let sortedList, let table else { return }
        let sortable = table.columns.indices.filter { !table.columns[$0].isTrend }
        let now = table.sorted.column
        let next = sortable.first { $0 > now } ?? sortable[0]
        sorts[sortedList] = (next, table.columns[next].isRight)
    }

    private mutating func reverseSort() {
        guard let sortedList, let sorted = table?.sorted else { return }
        sorts[sortedList] = (sorted.column, !sorted.isDescending)
    }
}
