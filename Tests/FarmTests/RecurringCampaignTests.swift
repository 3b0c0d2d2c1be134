import Campaigns
import FarmHarness
import Foundation
import StoreProtocol
import Testing

/// Recurring campaigns: each due run starts once, also when the intake is killed.
@Suite(.startsProcesses(limit: .seconds(500))) struct RecurringCampaignTests {
    private static let tokens = Tokens.make(60, seed: 41)

    private static func farm() async throws -> Farm {
        let farm = try await Farm()
        _ = try await farm.ready()
        try farm.push(devices: tokens.enumerated().map { #"{"id":"d-\#($0)","token":"\#($1)"}"# })
        try await farm.devicesFinished()
        return farm
    }

    /// The ids of all runs of the campaign `m`.
    private static func runs(of farm: Farm) throws -> [String] {
        let ids = try farm.redis.client().run("ZRANGE", "{pushfarm:demo}:campaign_ids", "0", "-1").array ?? []
        return ids.compactMap(\.text).filter { $0.hasPrefix("m.") }
    }

    /// Stores a draft of a campaign that recurs each minute, as if its runs of the last `seconds` had not been handled.
    private static func create(_ farm: Farm, _ fields: String, unhandled seconds: Int) async throws {
        let definition =
            #"{"id":"m","segment":"all","cron":"* * * * *","payload":{"aps":{"alert":"{{id}}"}},\#(fields)}"#
        let file = FileManager.default.temporaryDirectory.appending(path: "m-\(UUID().uuidString).json")
        try Data(definition.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try await farm.run("campaigns", "create", file.path, "--app", "demo").status == 0)
        let handled = (Int(Date().timeIntervalSince1970) - seconds) * 1000
        try farm.redis.client().run("HSET", "{pushfarm:demo}:campaign:m", "handled_until", "\(handled)")
        #expect(try await farm.run("campaigns", "start", "m").status == 0)
    }

    @Test func `a missed run starts once despite a kill, and a cancel ends the campaign`() async throws {
        let farm = try await Self.farm()
        try await Self.create(farm, #""rate":20"#, unhandled: 200)
        let first = try await eventually("a run starts") { try Self.runs(of: farm).first }
        let intake = try await eventually("the intake runs") {
            farm.coordinator.descendants.first { ProcessTable.isAbout("intake", $0) }
        }
        farm.kill(child: intake)
        let record = try await farm.finishedCampaign(first)
        #expect(record.state == .finished && record.counts[.accepted, 1] == Self.tokens.count)
        let missed = try await farm.event("campaign.run_skipped")
        #expect(missed["campaign"] == "m" && missed["reason"]?.contains("missed") == true)
        let shown = try await farm.run("campaigns", "show", "m", "--app", "demo")
        #expect(
            shown.status == 0 && shown.output.contains("next run") && shown.output.contains("last run m."))

        #expect(try await farm.run("campaigns", "cancel", "m", "--app", "demo").status == 0)
        #expect(try await farm.finishedCampaign("m").state == .cancelled)
        let runs = try Self.runs(of: farm)
        for run in runs { _ = try await farm.finished(run) }
        let ledger = try farm.gateway.ledger()
        #expect(Self.tokens.allSatisfy { ledger.deliveries[$0] == runs.count })
        #expect(try await farm.run("debug", "fsck").status == 0)
    }

    @Test func `a paused campaign starts no run, and a run that still runs delays none`() async throws {
        let farm = try await Self.farm()
        // A run takes 80 seconds, so the next run is skipped.
        try await Self.create(farm, #""spread":"80s""#, unhandled: 70)
        let first = try await eventually("a run starts") { try Self.runs(of: farm).first }
        let skipped = try await eventually("a run is skipped", within: .seconds(100)) {
            try farm.events("campaign.run_skipped").first { $0["reason"]?.contains("still running") == true }
        }
        #expect(skipped["reason"]?.contains(first) == true)
        #expect(try Self.runs(of: farm) == [first])
        #expect(try await farm.run("campaigns", "pause", "m", "--app", "demo").status == 0)
        _ = try await farm.finishedCampaign(first)
        // The next run is due a minute later, but does not start, because the intake reads the pause before each decision.
        let handled = try farm.campaign("m")?.handledUntil
        try await eventually("a run was due", within: .seconds(100)) {
            Int64(Date().timeIntervalSince1970 * 1000) > (handled ?? 0) + 65_000
        }
        #expect(try Self.runs(of: farm) == [first])
        #expect(try await farm.run("campaigns", "resume", "m", "--app", "demo").status == 0)
        try await eventually("the missed run starts", within: .seconds(30)) {
            try Self.runs(of: farm).count == 2
        }
    }
}
