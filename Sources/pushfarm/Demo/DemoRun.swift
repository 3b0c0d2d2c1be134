import EventLoop
import Simulator
import StoreProtocol

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Pushes the demo's jobs into a running farm, kills workers on the way, and draws up the job record.
@Loop final class DemoRun {
    private let client: FarmClient
    private let load: DemoLoad
    private let kills: Int
    private let control: String
    /// Leads the session that its workers are in.
    private let coordinator: pid_t
    private var progress: ProgressLine
    private var sent = 0
    private var settled = 0
    private var finishedJobs = 0
    private var victims: Set<pid_t> = []
    private var lastEvent = EntryID.first
    private let app = DemoSettings.app

    /// Jobs that wait in the inbox at most: the demo shows a steady stream, not one heap.
    private static let inboxLimit = 64
    /// Without any progress for so long something is stuck.
    private static let patience = Duration.seconds(60)

    init(client: FarmClient, load: DemoLoad, kills: Int, control: String, coordinator: pid_t, quiet: Bool) {
        self.client = client
        self.load = load
        self.kills = kills
        self.control = control
        self.coordinator = coordinator
        progress = ProgressLine("delivering", total: load.pushes, quiet: quiet)
    }

    /// - Parameter isEnded: says when the run was called off or lost one of its processes.
    func run(until isEnded: @Loop () -> Bool) async throws(CommandFailure) -> DemoSummary {
        let start = ContinuousClock.now
        var lastProgress = start
        var before = 0
        while finishedJobs < load.jobs, !isEnded() {
            try await feed()
            try await readEvents()
            try await killWhenDue()
            let now = ContinuousClock.now
            if settled != before { (before, lastProgress) = (settled, now) }
            guard now - lastProgress < Self.patience else { break }
            progress.update(settled, note: victims.isEmpty ? "" : "\(victims.count) killed", now: now)
            do { try await Loop.sleep(for: .milliseconds(20)) } catch { break }
        }
        let time = ContinuousClock.now - start
        progress.finish()
        return try await summary(time)
    }

    /// Keeps the inbox filled.
    private func feed() async throws(CommandFailure) {
        while sent < load.jobs {
            let waiting = try await client.call(Submit(job: load.text(of: sent)), app)
            sent += 1
            if waiting >= Self.inboxLimit { break }
        }
    }

    private func readEvents() async throws(CommandFailure) {
        while true {
            let events = try await client.entries(of: .events(app), .after(lastEvent), count: 5000)
            for event in events where event["type"] == "job.finished" {
                finishedJobs += 1
                for outcome in ["delivered", "failed", "expired", "cancelled"] {
                    settled += event[outcome].flatMap { Int(foreign: $0) } ?? 0
                }
            }
            guard let last = events.last else { return }
            lastEvent = last.id
            if events.count < 5000 { return }
        }
    }

    /// Kills are spread evenly over the run.
    private func killWhenDue() async throws(CommandFailure) {
        guard victims.count < kills, settled >= load.pushes / (kills + 1) * (victims.count + 1) else {
            return
        }
        let workers = try await FarmReadiness(client: client).workers()
        // The line may be a second old, and its process's number be another's by now: only children of ours count.
        let candidates = workers.compactMap(\.pid).map { pid_t($0) }.filter { pid in
            pid > 1 && !victims.contains(pid) && getsid(pid) == coordinator
        }
        guard let victim = candidates.randomElement() else { return }
        if kill(victim, SIGKILL) == 0 { victims.insert(victim) }
    }

    private func summary(_ time: Duration) async throws(CommandFailure) -> DemoSummary {
        let answer: String
        do {
            answer = try await SimulatorControl.send("counters", socket: control)
        } catch {
            throw .failed("the simulator does not answer: \(error)")
        }
        guard let gateway = GatewayCount(json: answer) else {
            throw .failed("the simulator's counters cannot be read: \(answer)")
        }
        var summary = DemoSummary(load: load, gateway: gateway)
        summary.time = time
        summary.workersKilled = victims.count
        summary.workersToKill = kills
        for job in 0..<load.jobs {
            if let jobRecord = try await client.jobRecord(load.id(of: job), app) { summary.add(jobRecord) }
        }
        return summary
    }
}
