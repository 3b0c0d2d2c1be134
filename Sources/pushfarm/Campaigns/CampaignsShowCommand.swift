import ArgumentParser
import EventLoop

struct CampaignsShowCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows one campaign: its counts, rounds and zones.",
        discussion: """
            At the end of each round, audience is accepted + capped + excluded +
            unsendable. An accepted push gets an outcome as in a job: delivered, failed,
            expired or cancelled.

            Example:
              pushfarm campaigns show ed-2026-11-24
              pushfarm campaigns show ed-2026-11-24 --app demo --json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: CampaignChoice

    func run(_ client: FarmClient, _ console: Console) async throws {
        let report = try await client.report(of: client.campaign(choice))
        console.show(report.json, report.text(console.style))
    }
}
