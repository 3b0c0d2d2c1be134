import Campaigns
import EventLoop
import Simulator
import StoreProtocol

/// Registers devices in a running farm, starts a campaign, kills processes during the run, and collects the counts of the farm and
/// of the simulator.
@Loop final class CampaignDemoRun {
    private let client: FarmClient
    private let farm: LocalFarm
    private let load: CampaignDemoLoad
    private let kills: Int
    private let isQuiet: Bool
    private let victims: DemoVictims
    private let app = DemoSettings.app

    /// The demo fails after this time without progress.
    private static let timeout = Duration.seconds(60)
    private static let interval = Duration.milliseconds(50)
    /// The number of registrations of one call.
    private static let portion = 500

    init(_ client: FarmClient, _ farm: LocalFarm, load: CampaignDemoLoad, kills: Int, quiet: Bool) {
        (self.client, self.farm, self.load, self.kills, isQuiet) = (client, farm, load, kills, quiet)
        victims = DemoVictims(client, farm)
    }

    /// Runs until the campaign and its job are finished, progress stops, or the farm exits.
    func run(say: (String) -> Void) async throws(CommandFailure) -> CampaignDemoSummary {
        say(
            "registering \(Figures.grouped(load.devices)) devices in \(CampaignDemoLoad.zones.count) time zones"
        )
        try await register()
        let (name, expression) = CampaignDemoLoad.segment
        let now = try await client.clock().clampedMilliseconds
        let segment = SavedSegment(name: name, expression: expression, by: OperatorName.current, at: now)
        _ = try await client.call(SaveSegment(segment), app)
        say("starting a campaign to the segment \(name), \(expression), over \(load.spread) s")
        let start = ContinuousClock.now
        let definition = load.definition(atMinute: Int(clamping: now / 60_000 % 60))
        _ = try await client.call(PushInputs(.campaigns, [definition]), app)
        try await deliver()
        return try await summary(ContinuousClock.now - start)
    }

    // MARK: Steps

    private func register() async throws(CommandFailure) {
        var pusher = DeviceInputPusher(client: client, app: app, timeout: Self.timeout)
        for first in stride(from: 0, to: load.devices, by: Self.portion) where !farm.end.isGiven {
            let last = min(first + Self.portion, load.devices)
            let inputs = (first..<last).map { load.registration(of: $0) }
            try await pusher.push(inputs) { farm.end.isGiven }
        }
        let reader = try await client.registry(of: app)
        try await watch("registering", total: load.devices) { () throws(CommandFailure) in
            let partitions = try await self.client.read { () throws(StoreError) in
                try await reader.partitions()
            }
            return partitions.reduce(0) { $0 + $1.devices }
        }
    }

    private func deliver() async throws(CommandFailure) {
        let audience = load.audience.all
        try await watch("delivering", total: audience) { () throws(CommandFailure) in
            let job = try await self.client.jobRecord(CampaignDemoLoad.id, self.app)
            let settled = job?.settled ?? 0
            try await self.killWhenDue(settled, of: audience)
            // The campaign is over when its job is finished, which may be a moment after the last outcome.
            return settled < audience || job?.state == .finished ? settled : settled - 1
        }
    }

    /// Shows the progress until the total is reached, nothing changes for a long time, or the farm exits.
    private func watch(
        _ title: String, total: Int, _ count: @Loop () async throws(CommandFailure) -> Int
    ) async throws(CommandFailure) {
        var progress = ProgressLine(title, total: total, quiet: isQuiet)
        var (done, lastProgress) = (0, ContinuousClock.now)
        while done < total, !farm.end.isGiven {
            let now = ContinuousClock.now
            let count = try await count()
            if count != done { (done, lastProgress) = (count, now) }
            guard now - lastProgress < Self.timeout else { break }
            let killed = victims.workers + victims.intakes
            progress.update(done, note: killed > 0 ? "\(killed) killed" : "", now: now)
            do { try await Loop.sleep(for: Self.interval) } catch { break }
        }
        progress.finish()
    }

    /// Kills a worker or the intake when the next kill is due. The kills are spread evenly over the run. The intake, which runs the
    /// campaign, is killed at half of the run.
    private func killWhenDue(_ settled: Int, of total: Int) async throws(CommandFailure) {
        guard kills > 0 else { return }
        if victims.workers < kills, settled >= total / (kills + 1) * (victims.workers + 1) {
            try await victims.killWorker()
        }
        if victims.intakes == 0, settled >= total / 2 { try await victims.killIntake() }
    }

    private func summary(_ time: Duration) async throws(CommandFailure) -> CampaignDemoSummary {
        let gateway = try await GatewayCount.read(from: farm)
        var summary = CampaignDemoSummary(load: load, gateway: gateway)
        summary.time = time
        (summary.workersKilled, summary.intakesKilled) = (victims.workers, victims.intakes)
        summary.workersToKill = kills
        summary.campaign = try await client.campaign(CampaignDemoLoad.id, app)?.record
        summary.job = try await client.jobRecord(CampaignDemoLoad.id, app)
        return summary
    }
}
