import ArgumentParser
import EventLoop
import PushModel

struct ReplayCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replays dead letters as new jobs.",
        discussion: """
            The failed pushes of a job OLD become a new job OLD.r1 (the next time OLD.r2),
            whose record says replay_of. The same step deletes the dead letter, so it is
            sent once. An interrupted replay continues when it is given the same --id.

            Three kinds of pushes are skipped: expired ones (--ttl gives them a new time to
            live), those that were to be sent at most once and may have been delivered
            (--even-unknown), and those that crashed workers (--reason poison).

            Example:
              pushfarm replay --job order-4711
              pushfarm replay 1780000000123-0
              pushfarm replay --reason TopicDisallowed --since 2h --dry-run
              pushfarm replay --reason exhausted --rate 500 --id outage-12-may

            Status 3 when it was interrupted or pushes were skipped.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: DeadLetterOptions

    @Option(
        help: ArgumentHelp(
            "A name for this replay. The same name again goes on where it was, and never takes letters that came after it began.",
            valueName: "name"))
    var id: String?

    @Option(reads: ArgumentHelp("So many pushes; letters go whole.", valueName: "count"))
    var limit: Int?

    @Option(reads: ArgumentHelp("So many pushes a second are put in; letters go whole.", valueName: "count"))
    var rate: Int?

    @Option(
        help: ArgumentHelp(
            "high or bulk. Default: the old job's; bulk when its job record is gone.", valueName: "lane"))
    var lane: String?

    @Option(reads: ArgumentHelp("Time to live from now on.", valueName: "duration"))
    var ttl: TimeSpan?

    @Flag(help: "Also those that were to be sent at most once and may have been delivered.")
    var evenUnknown = false

    @Flag(help: "Says what would be done, and does nothing.")
    var dryRun = false

    @Argument(help: "Ids, as dead list --letters names them.")
    var ids: [String] = []

    func validate() throws {
        if let id, !Self.isName(id) {
            throw ValidationError("--id is 1 to 64 of A-Z a-z 0-9 _ . - :")
        }
        if let limit, limit < 1 { throw ValidationError("--limit is at least 1.") }
        if let rate, !(1...1_000_000).contains(rate) { throw ValidationError("--rate is 1 to 1000000.") }
        if let lane, Lane(name: lane) == nil { throw ValidationError("--lane is high or bulk.") }
        if let ttl, !(1...JobLimits.longestTime).contains(ttl.wholeSeconds ?? 0) {
            throw ValidationError("--ttl is 1 to \(JobLimits.longestTime) whole seconds.")
        }
        guard !selection.isEverything || !ids.isEmpty else {
            throw ValidationError("Name ids, --job, --reason or --since.")
        }
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789_.-:".unicodeScalars.contains($0))
            }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let settings = ReplaySettings(
            name: id ?? JobDraft.freshID(), filter: try selection.filter(ids: ids), limit: limit, rate: rate,
            lane: lane.flatMap { Lane(name: $0) }, ttl: ttl?.wholeSeconds.map { Int($0) },
            takesUnknown: evenUnknown, isDry: dryRun)
        try await ReplayRun(client: client, settings: settings, console: console)
            .perform(app: selection.app, typed: ["replay"] + ids + selection.words + words)
    }

    /// The command's own options as they were typed, for the audit log.
    private var words: [String] {
        func option(_ name: String, _ value: (some CustomStringConvertible)?) -> [String] {
            value.map { ["--" + name, "\($0)"] } ?? []
        }
        return option("id", id) + option("limit", limit) + option("rate", rate) + option("lane", lane)
            + option("ttl", ttl) + (evenUnknown ? ["--even-unknown"] : [])
    }
}
