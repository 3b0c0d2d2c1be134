import EventLoop
import FarmLogging
import StoreProtocol

/// `pushfarm top`: reads the farm once per second, and draws after each read and each key.
@Loop final class TopRun {
    private let client: FarmClient
    private let terminal: TopTerminal
    private let interval: Duration
    private var model = TopModel()
    private let wakeUp = AsyncEvent()
    private var isOver = false

    init(_ client: FarmClient, _ terminal: TopTerminal, interval: Duration) {
        (self.client, self.terminal, self.interval) = (client, terminal, interval)
    }

    /// Runs until the reader quits.
    func run() async {
        terminal.onKeys = { [unowned self] keys in for key in keys { press(key) } }
        terminal.onResize = { [unowned self] in
            terminal.forget()
            draw()
        }
        terminal.onEnd = { [unowned self] in end() }
        terminal.show()
        defer { terminal.hide() }
        draw()
        while !isOver {
            await refresh()
            guard !isOver else { return }
            draw()
            await wakeUp.wait(atMost: interval)
        }
    }

    private func end() {
        isOver = true
        terminal.hide()
        wakeUp.signal()
    }

    private func press(_ key: TopKey) {
        guard !isOver else { return }
        switch model.press(key, page: screen.page) {
        case .nothing: break
        case .draw: draw()
        case .refresh:
            draw()
            wakeUp.signal()
        case .quit: end()
        case .suspend: terminal.suspend()
        }
    }

    private func refresh() async {
        do throws(CommandFailure) {
            var snapshot = try await snapshot(jobsOf: model.wantsJobs ?? [])
            if let (app, id) = model.wantsJob, let job = try await client.jobRecord(id, app) {
                snapshot.jobs = [job]
            }
            model.take(snapshot)
        } catch {
            model.lost(error.message, at: Timestamp.now.milliseconds)
        }
    }

    private var screen: TopScreen {
        let (columns, rows) = terminal.size
        return TopScreen(model: model, columns: columns, rows: rows)
    }

    private func draw() {
        let screen = screen
        terminal.draw(screen.lines, columns: screen.columns)
    }

    /// The maximum number of apps whose jobs are read, and the maximum number of jobs per app. With more jobs, a read
    /// could take longer than the time between two reads.
    private static let mostApps = 10
    private static let mostJobs = 40

    private func snapshot(jobsOf apps: [String]) async throws(CommandFailure) -> TopModel.Snapshot {
        var snapshot = TopModel.Snapshot(status: try await FarmStatus.read(from: client, countsJobs: false))
        for app in apps.prefix(Self.mostApps) {
            for id in try await client.call(LatestJobs(count: Self.mostJobs), app) {
                if let jobRecord = try await client.jobRecord(id, app) { snapshot.jobs.append(jobRecord) }
            }
        }
        return snapshot
    }
}
