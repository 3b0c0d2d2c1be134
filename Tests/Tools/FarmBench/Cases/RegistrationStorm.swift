import BenchKit
import FarmHarness
import Foundation

/// Measures the pace of a campaign at half of its full rate, alone and beside a storm of registrations.
struct RegistrationStorm: BenchCase {
    let key = "storm"
    let title =
        "a campaign to 1,500,000 stored devices at half of its full rate, alone and beside a storm of registrations"
    let isOnce = true
    let measures = [
        Measure("pushes a second, full rate", "/s", "full"),
        Measure("pushes a second, half rate", "/s", "alone", beside: "half", of: "half of the full rate"),
        Measure(
            "pushes a second, half rate beside the storm", "/s", "beside", beside: "alone", of: "half rate",
            bar: .atLeast(0.95)),
        Measure(
            "registrations a second in the storm", "/s", "storm", beside: "pushed",
            of: "pushed by the producer",
            bar: .atLeast(0.95)),
        Measure("intake in the storm, all CPU a registration", "µs", "intake"),
        Measure("Redis in the storm, all CPU a registration", "µs", "redis"),
    ]

    private static let devices = 1_500_000
    /// The number of registrations a second that the producer pushes.
    private static let stormRate = 20_000
    /// The number of devices of one RPUSH of the storm.
    private static let piece = 200

    func round(_ number: Int, _ plan: BenchPlan, _ cores: Cores) async throws -> Round {
        let folder = try TestFolder()
        let gateway = try await Gateway(
            in: folder.path, options: ["--no-first-stream-limit"], hasLedger: false)
        let farm = try await BenchFarm.start(
            BenchFarm.Options(
                app: ["max_backlog: 20000000"], logFile: "\(plan.folder)/\(key)-\(number).log"), gateway,
            in: folder.path)
        let devices = plan.pushes(Self.devices)
        var round = Round()
        try await farm.register(0..<devices)
        let full = try await pace("full", "", devices, farm, into: &round) {}
        let half = max(1, Int(full / 2))
        (round["full"], round["half"]) = (full, Double(half))
        let rate = #","rate":\#(half)"#
        round["alone"] = try await pace("alone", rate, devices, farm, into: &round) {}

        let count = max(1, devices * Self.stormRate / half / Self.piece) * Self.piece
        let pieces = stride(from: 0, to: count, by: Self.piece).map { start in
            PreparedDevices.command(devices + start..<devices + start + Self.piece, platform: "android")
        }
        var storm = (pushed: 0.0, applied: 0.0)
        let run = try await farm.measure(cores) {
            round["beside"] = try await pace("beside", rate, devices, farm, into: &round) {
                storm = try await Self.storm(pieces, farm)
            }
        }
        (round["pushed"], round["storm"]) = (storm.pushed, storm.applied)
        round["intake"] = run.use.intake / Double(count) * 1e6
        round["redis"] = run.use.redis / Double(count) * 1e6
        round.shareOfOthers = run.shareOfOthers
        round.broken += try await farm.end()
        return round
    }

    /// The pushes a second of a campaign to the first devices.
    ///
    /// - Parameter work: what happens meanwhile.
    private func pace(
        _ id: String, _ fields: String, _ devices: Int, _ farm: BenchFarm, into round: inout Round,
        _ work: () async throws -> Void
    ) async throws -> Double {
        let accepted = try farm.gateway.counter("accepted")
        let start = try farm.redisTime()
        try farm.startCampaign(id, #""segment":"platform:ios""# + fields)
        try await work()
        try await farm.settled(accepted + devices, within: .seconds(600))
        try await eventually("the campaign is finished", within: .seconds(60)) { try farm.isFinished(id) }
        let jobRecord = try farm.jobRecord(of: [id])
        let arrived = try farm.gateway.counter("accepted") - accepted
        round.broken += jobRecord.complaints(pushes: devices, atGateway: arrived).map { "\(id): \($0)" }
        return Double(devices) / ((jobRecord.finishedAt - start) / 1_000)
    }

    /// Pushes commands at the rate of the storm, and waits until the devices are stored.
    ///
    /// - Returns: the registrations a second that were pushed, and those that were applied.
    private static func storm(
        _ pieces: [[UInt8]], _ farm: BenchFarm
    ) async throws -> (pushed: Double, applied: Double) {
        let clock = ContinuousClock()
        let start = clock.now
        for (number, command) in pieces.enumerated() {
            let due = start + .seconds(number * piece) / stormRate
            if clock.now < due { try await Task.sleep(until: due, clock: clock) }
            try farm.client.send(prepared: command, replies: 1)
        }
        let count = Double(pieces.count * piece)
        let pushed = count / (clock.now - start).seconds
        try await eventually("the storm is applied", within: .seconds(600)) { try farm.waitingDevices() == 0 }
        return (pushed, count / (clock.now - start).seconds)
    }
}
