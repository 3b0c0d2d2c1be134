import EventLoop
import Foundation
import Simulator
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
    private var victims: Set<pid_t> = []
    private let app = DemoSettings.app

    /// How many jobs the demo keeps in the inbox. The number is small, so that jobs are submitted during the whole run.
    private static let inboxLimit = 64
    /// The demo fails after this time without progress.
    private static let timeout = Duration.seconds(60)

    init(_ client: FarmClient, _ farm: LocalFarm, load: DemoLoad, kills: Int, quiet: Bool) {
        (self.client, self.farm, self.load, self.kills) = (client, farm, load, kills)
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
            let waiting = try await client.call(PushJob(job: load.text(of: sent)), app)
            sent += 1
            if waiting >= Self.inboxLimit { break }
        }
    }

    /// Kills a worker when the next kill is due. The kills are spread evenly over the run.
    private func killWhenDue() async throws(CommandFailure) {
        guard victims.count < kills, settled >= load.pushes / (kills + 1) * (victims.count + 1) else {
            return
        }
        let workers = try await client.hosts().flatMap { host in host.workers.filter { $0.state == "ready" } }
        // The status may be a second old. If the worker has exited since then, another process may have its process id.
        // So check that the process is in the session of this farm's coordinator, as its workers are.
        let coordinator = farm.coordinator?.pid ?? 0
        let candidates = workers.compactMap(\.pid).map { pid_t($0) }.filter { pid in
            pid > 1 && !victims.contains(pid) && getsid(pid) == coordinator
        }
        guard let victim = candidates.randomElement() else { return }
        if kill(victim, SIGKILL) == 0 { victims.insert(victim) }
    }

    private func summary(_ time: Duration) async throws(CommandFailure) -> DemoSummary {
        let reply: String
        do {
            reply = try await SimulatorControl.send("counters", socket: farm.simulation?.control ?? "")
        } catch {
            throw .failed("the simulator does not reply: \(error)")
        }
        guard let gateway = GatewayCount(json: reply) else {
            throw .failed("the simulator's counters cannot be read: \(reply)")
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
