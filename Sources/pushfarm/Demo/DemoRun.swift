import EventLoop
import StoreProtocol

/// Submits the demo's jobs to a running farm, kills workers during the run, and collects the counts of the farm and of
/// the simulator.
@Loop final class DemoRun {
    private let client: FarmClient
    private let farm: LocalFarm
    private let load: DemoLoad
    private let kills: Int
    private var progress: ProgressLine
    private var sent = 0
    private var settled = 0
    private let victims: DemoVictims
    private let app = DemoSettings.app

    /// How many jobs the demo keeps in the inbox. The number is small, so that jobs are submitted during the whole run.
    private static let inboxLimit = 64
    /// The demo fails after this time without progress.
    private static let timeout = Duration.seconds(60)

    init(_ client: FarmClient, _ farm: LocalFarm, load: DemoLoad, kills: Int, quiet: Bool) {
        (self.client, self.farm, self.load, self.kills) = (client, farm, load, kills)
        victims = DemoVictims(client, farm)
        progress = ProgressLine("delivering", total: load.pushes, quiet: quiet)
    }

    /// Runs until all pushes have an outcome, progress stops, or the farm exits.
    func run() async throws(CommandFailure) -> DemoSummary {
        let start = ContinuousClock.now
        var lastProgress = start
        var before = 0
        while settled < load.pushes, !farm.end.isGiven {
            try await feed()
            settled = try await client.call(ReadPushCounts(), app).settled
            try await killWhenDue()
            let now = ContinuousClock.now
            if settled != before { (before, lastProgress) = (settled, now) }
            guard now - lastProgress < Self.timeout else { break }
            progress.update(settled, note: victims.workers == 0 ? "" : "\(victims.workers) killed", now: now)
            do { try await Loop.sleep(for: .milliseconds(20)) } catch { break }
        }
        let time = ContinuousClock.now - start
        progress.finish()
        return try await summary(time)
    }

    /// Keeps the inbox filled.
    private func feed() async throws(CommandFailure) {
        while sent < load.jobs {
            let waiting = try await client.call(PushJob(job: load.text(of: sent)), app)
            sent += 1
            if waiting >= Self.inboxLimit { break }
        }
    }

    /// Kills a worker when the next kill is due. The kills are spread evenly over the run.
    private func killWhenDue() async throws(CommandFailure) {
        guard victims.workers < kills, settled >= load.pushes / (kills + 1) * (victims.workers + 1) else {
            return
        }
        try await victims.killWorker()
    }

    private func summary(_ time: Duration) async throws(CommandFailure) -> DemoSummary {
        let gateway = try await GatewayCount.read(from: farm)
        var summary = DemoSummary(load: load, gateway: gateway)
        summary.time = time
        summary.workersKilled = victims.workers
        summary.workersToKill = kills
        for job in 0..<load.jobs {
            if let jobRecord = try await client.jobRecord(load.id(of: job), app) { summary.add(jobRecord) }
        }
        return summary
    }
}
