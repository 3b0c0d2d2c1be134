import ArgumentParser
import Campaigns
import EventLoop
import StoreProtocol

struct CampaignsListCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the latest campaigns.",
        discussion: """
            Example:
              pushfarm campaigns list --app demo
              pushfarm campaigns list --limit 100 --json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(help: ArgumentHelp("Only this app's campaigns.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(reads: ArgumentHelp("The largest number of campaigns to list.", valueName: "n"))
    var limit = 20

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit is 1 to 1000.") }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        var reports: [CampaignReport] = []
        for app in try await client.apps(selectedBy: app) {
            for id in try await client.call(LatestCampaigns(count: limit), app) {
                // The record may have expired.
                guard let stored = try await client.campaign(id, app) else { continue }
                reports.append(try await client.report(of: stored))
            }
        }
        reports.sort {
            ($1.stored.record.createdAt, $0.stored.id) < ($0.stored.record.createdAt, $1.stored.id)
        }
        reports = Array(reports.prefix(limit))
        let now = try await client.clock().clampedMilliseconds
        console.show(
            .object(["campaigns": .array(reports.map(\.json))]), Self.text(reports, at: now, console.style))
    }

    /// - Parameter now: Unix milliseconds of Redis's clock.
    static func text(_ reports: [CampaignReport], at now: Int64, _ style: TextStyle) -> String {
        guard !reports.isEmpty else { return "no campaigns\n" }
        var table = Table([
            "CAMPAIGN": .left, "APP": .left, "STATE": .left, "AGE": .right, "AUDIENCE": .right,
            "ACCEPTED": .right, "FAILED": .right, "ROUND": .right,
        ])
        for report in reports {
            let record = report.stored.record
            table.add(
                .init(report.stored.id), .init(report.stored.app), report.state,
                .init(Figures.brief(.milliseconds(max(0, now - record.createdAt)))),
                .number(record.counts[.audience, 1]), .number(record.counts.total(.accepted)),
                .number(report.job?.failed ?? 0, .red),
                .init(record.counts.rounds > 0 ? "\(record.counts.rounds)" : "-"))
        }
        return table.text(style)
    }
}
