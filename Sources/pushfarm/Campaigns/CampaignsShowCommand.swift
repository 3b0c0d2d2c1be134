import ArgumentParser
import EventLoop

struct CampaignsShowCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows one campaign: its counts, rounds and zones.",
        discussion: """
            At the end of each round, audience is accepted + merged + capped + excluded +
            unsendable. An accepted push gets an outcome as in a job: delivered, failed,
            expired or cancelled. Merged devices got the content in a push of another
            campaign of the same merge group, which counts the push as accepted.

            For variants, the table shows the devices, the rewards, the mean reward with
            its 95 % interval, and the share in the next step.
            By time, SENT counts pushes, and SHARE is the share of the audience that is
            done by then.
            UNREACHABLE counts the devices of sent background pushes that report that such
            pushes may not reach them. If the registry cannot be read, it is unknown.

            Example:
              pushfarm campaigns show ed-2026-11-24
              pushfarm campaigns show ed-2026-11-24 --app demo --json
              pushfarm campaigns show ed-2026-11-24 --by zone
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: CampaignChoice

    @Option(
        help: ArgumentHelp(
            "Divides sent and done devices by zone, platform, model, os, lang, tag, network, reachability, cohort, round or time.",
            valueName: "what"))
    var by: CampaignBreakdown.Dimension?

    func run(_ client: FarmClient, _ console: Console) async throws {
        let stored = try await client.campaign(choice)
        var report = try await client.report(of: stored)
        report.merge = try await client.mergeReport(of: stored)
        if stored.record.definition.contains("background".utf8) {
            // The counts of the farm's Redis are shown even if the registry cannot be read.
            do {
                let reader = CampaignBreakdownReader(client: client, stored: stored)
                report.unreachable = try await reader.unreachable().map { .devices($0) }
            } catch { report.unreachable = .unknown(reason: error.message) }
        }
        report.variants = try await client.variantReport(of: stored)
        if let by {
            report.breakdown = try await CampaignBreakdownReader(client: client, stored: stored).read(by: by)
        }
        console.show(report.json, report.text(console.style))
    }
}
