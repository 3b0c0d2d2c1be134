import ArgumentParser
import Campaigns
import EventLoop
import StoreProtocol

struct CampaignsRateCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "rate",
        abstract: "Sets the highest rate of a campaign.",
        discussion: """
            The rate applies to all zones together. It replaces the "rate" of the
            definition. If the campaign spreads its pushes, the rate is an upper limit. The
            farm makes a new plan for the rest of the round. "default" returns to the rate
            of the definition.

            Example:
              pushfarm campaigns rate ed-2026-11-24 500/s
              pushfarm campaigns rate ed-2026-11-24 6000/m --dry-run
              pushfarm campaigns rate ed-2026-11-24 default
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: CampaignChoice

    @Argument(reads: ArgumentHelp("500/s, 6000/m or 100/h, for example; or default.", valueName: "rate"))
    var rate: CampaignRate

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func run(_ client: FarmClient, _ console: Console) async throws {
        let stored = try await client.campaign(choice)
        guard let state = stored.record.state, !state.isFinal else {
            throw CommandFailure.failed("\(stored.name) is \(stored.record.state?.rawValue ?? "unreadable")")
        }
        let changed = stored.record.rate != rate.perSecond
        if changed, !dryRun {
            let field = (CampaignRecord.Field.rate.rawValue, rate.perSecond.map { "\($0)" } ?? "")
            try await client.change(.set(stored.id, name: JobDraft.freshID(), fields: [field]), of: stored)
            try await client.note(
                ["campaigns", "rate", stored.id, rate.description, "--app", stored.app], "set")
        }
        let text = rate.perSecond.map { Figures.perTime($0) } ?? "as defined"
        console.show(
            .object([
                "app": .string(stored.app), "id": .string(stored.id),
                "rate": rate.perSecond.map { .decimal($0) } ?? .null, "changed": .bool(changed),
                "dry_run": .bool(dryRun),
            ]), "\(stored.name): \(changed && dryRun ? "would get the rate" : "rate") \(text)\n")
    }
}

/// A rate on the command line, such as `500/s`, or `default`.
struct CampaignRate: OptionValue, CustomStringConvertible {
    /// Pushes a second; nil for `default`.
    let perSecond: Double?

    private static let range = 0.000_001...10_000_000.0

    init(reading text: String) throws(OptionFault) {
        guard text != "default" else {
            perSecond = nil
            return
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let unit = parts.count == 2 ? ["s": 1.0, "m": 60.0, "h": 3600.0][String(parts[1])] : nil
        guard let unit, text.utf8.count <= 40, let number = Double(parts[0]),
            Self.range.contains(number / unit)
        else { throw OptionFault("a rate is 500/s, 6000/m or 100/h, for example, or default") }
        perSecond = number / unit
    }

    var description: String { perSecond.map { Figures.perTime($0) } ?? "default" }
}
