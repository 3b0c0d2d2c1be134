import ArgumentParser
import Campaigns
import EventLoop
import StoreProtocol

struct CampaignsStartCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Starts a draft.",
        discussion: """
            Plans the campaign with the devices that are stored now. If the pushes do not
            fit into the window, the command says so with the arithmetic, and the campaign
            stays a draft. A campaign with start_at waits for that time.

            Example:
              pushfarm campaigns start ed-2026-11-24
              pushfarm campaigns start ed-2026-11-24 --app demo --dry-run
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: CampaignChoice

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func run(_ client: FarmClient, _ console: Console) async throws {
        let stored = try await client.campaign(choice)
        let state = stored.record.state
        guard state == .draft || state == .scheduled || state == .running else {
            throw CommandFailure.failed(
                "\(stored.name) is \(state?.rawValue ?? "in a state that this version does not know")")
        }
        let changes = state == .draft
        if changes {
            let zones = CampaignZones()
            try zones.check()
            let campaign = try stored.definition(zones)
            let planner = CampaignPlanner(client: client, app: stored.app, zones: zones)
            _ = try await planner.plan(campaign, rate: stored.record.rate)
        }
        if changes, !dryRun {
            try await client.change(.start(stored.id, name: JobDraft.freshID()), of: stored)
            try await client.note(["campaigns", "start", stored.id, "--app", stored.app], "started")
        }
        let text = !changes ? "was started already" : dryRun ? "would be started" : "is started"
        console.show(
            .object([
                "app": .string(stored.app), "id": .string(stored.id), "changed": .bool(changes),
                "dry_run": .bool(dryRun),
            ]), "\(stored.name) \(text)\n")
    }
}
