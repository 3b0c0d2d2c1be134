import ArgumentParser
import Campaigns
import EventLoop
import StoreProtocol

struct CampaignsPauseCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pauses a started campaign.",
        discussion: """
            The campaign adds no pushes, and workers send none of its pushes. This is the
            pause of the campaign's job, so "pushfarm paused" lists it. After the pause,
            the farm makes a new plan for the rest of the round. So the campaign does not
            catch up in a burst.

            Example:
              pushfarm campaigns pause ed-2026-11-24 --reason "the headline is wrong"
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: CampaignChoice

    @Option(help: ArgumentHelp("Why; status and paused show it.", valueName: "text"))
    var reason: String?

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func run(_ client: FarmClient, _ console: Console) async throws {
        let stored = try await client.campaign(choice)
        try stored.requireStarted("pause")
        let line = try await OperatorPause(client: client, isDryRun: dryRun)
            .pause(.job(stored.id, app: stored.app), reason: try PauseCommand.line(ofReason: reason))
        try await stored.show(line, "pause", isDryRun: dryRun, client, console)
    }
}

struct CampaignsResumeCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Ends a pause, or begins the next stage.",
        discussion: """
            If the campaign waits after a stage, the command releases the next stage in all
            zones that wait or will wait after that stage. If the campaign is paused, too,
            the command ends the pause.

            Example:
              pushfarm campaigns resume ed-2026-11-24
              pushfarm campaigns resume ed-2026-11-24 --dry-run
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: CampaignChoice

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func run(_ client: FarmClient, _ console: Console) async throws {
        let stored = try await client.campaign(choice)
        try stored.requireStarted("resume")
        let released = stored.record.nextReleased
        if let released, !dryRun {
            let field = (CampaignRecord.Field.released.rawValue, "\(released)")
            try await client.change(.set(stored.id, name: JobDraft.freshID(), fields: [field]), of: stored)
        }
        var line = try await OperatorPause(client: client, isDryRun: dryRun).resume(
            .job(stored.id, app: stored.app))
        if let released {
            line = ChangeReport.Line(
                target: line.target, changed: true,
                text: (line.changed ? "\(line.text), and " : "") + "begins stage \(released + 1)",
                more: line.more + [.init(name: "stage", value: .number(released + 1))])
        }
        try await stored.show(line, "resume", isDryRun: dryRun, client, console)
    }
}

struct CampaignsCancelCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancels a campaign's unsent pushes.",
        discussion: """
            The campaign adds no more pushes, and its unsent pushes end as cancelled. A
            cancelled campaign cannot be started again. The command waits until the job of
            the campaign is finished; --no-wait does not wait.

            Example:
              pushfarm campaigns cancel ed-2026-11-24
              pushfarm campaigns cancel ed-2026-11-24 --no-wait
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: CampaignChoice

    @Flag(inversion: .prefixedNo, help: "Waits until the job is finished.")
    var wait = true

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func run(_ client: FarmClient, _ console: Console) async throws {
        let stored = try await client.campaign(choice)
        guard stored.record.state == .draft else {
            // The pushes of a campaign are those of its job, which the command for jobs cancels.
            let words = [stored.id, "--app", stored.app, wait ? "--wait" : "--no-wait"]
            let command = try CancelCommand.parse(words + (dryRun ? ["--dry-run"] : []))
            return try await command.run(client, console)
        }
        if !dryRun {
            try await client.change(.cancelDraft(stored.id, name: JobDraft.freshID()), of: stored)
            try await client.note(["campaigns", "cancel", stored.id, "--app", stored.app], "cancelled")
        }
        console.show(
            .object([
                "app": .string(stored.app), "job": .string(stored.id), "changed": .bool(true),
                "dry_run": .bool(dryRun), "expected": .bool(false), "record": .null,
            ]), "\(stored.name) \(dryRun ? "would be cancelled" : "is cancelled")\n")
    }
}

extension StoredCampaign {
    /// Refuses a campaign that has no job: a draft, or a campaign that is over.
    fileprivate func requireStarted(_ verb: String) throws(CommandFailure) {
        switch record.state {
        case .scheduled, .running: return
        case .draft:
            throw .failed(
                "\(name) is a draft; to start it: pushfarm campaigns start \(PlainText.of(id)) --app \(app)")
        case .finished:
            throw .failed(
                "\(name) has added all pushes: pushfarm \(verb) --job \(PlainText.of(id)) --app \(app)")
        case .cancelled, .refused, nil: throw .failed("\(name) is \(record.state?.rawValue ?? "unreadable")")
        }
    }

    /// Notifies the hosts of a change of the campaign's job, and shows the change.
    @Loop fileprivate func show(
        _ line: ChangeReport.Line, _ verb: String, isDryRun: Bool, _ client: FarmClient, _ console: Console
    ) async throws {
        var outcome: OperatorClient.Outcome?
        if line.changed, !isDryRun {
            outcome = try await OperatorClient.refreshHosts(
                ["campaigns", verb, id, "--app", app], client, console)
        }
        console.show(
            .object(
                JSONValue.fields([
                    "app": .string(app), "id": .string(id), "changed": .bool(line.changed),
                    "dry_run": .bool(isDryRun), "hosts": outcome?.hostsJSON ?? .array([]),
                    "silent": .strings(outcome?.silent ?? []),
                ]) + line.more), "\(isDryRun ? "would change: " : "")\(name) \(line.text)\n")
        try outcome?.requireReplies()
    }
}

extension CampaignRecord {
    /// The number of stages that `resume` releases; nil if no group waits for it.
    fileprivate var nextReleased: Int? {
        let waiting = (progress?.groups ?? []).compactMap { group -> Int? in
            guard case .gated = group.phase, group.stage >= released else { return nil }
            return group.stage + 1
        }
        return waiting.max()
    }
}
