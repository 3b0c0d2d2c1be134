import ArgumentParser
import EventLoop
import PushModel

struct ReplayCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replays dead letters as new jobs.",
        discussion: """
            The failed pushes of a job OLD become a new job OLD.r1; later new jobs are
            OLD.r2, OLD.r3 and so on. The record of a new job names the old job in its
            field "replay_of". The step that creates a new job also deletes the dead
            letters, so their pushes are sent only once more. After an interruption, run
            the command again with the same --id to continue.

            The command skips three kinds of pushes, unless an option includes them:
            expired pushes (--ttl gives them a new time to live), at-most-once pushes that
            may have been delivered (--even-unknown), and pushes that crashed workers
            (--reason poison).

            Example:
              pushfarm replay --job order-4711
              pushfarm replay 1780000000123-0
              pushfarm replay --reason TopicDisallowed --since 2h --dry-run
              pushfarm replay --reason exhausted --rate 500 --id outage-12-may

            The exit status is 3 when the replay was interrupted or skipped pushes.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var change: DeadLetterChangeOptions

    @Option(
        help: ArgumentHelp(
            "A name for this replay. A later run with this name continues the replay, and ignores dead letters that were added after its start.",
            valueName: "name"))
    var id: String?

    @Option(
        reads: ArgumentHelp("The number of pushes to submit per second.", valueName: "count"))
    var rate: Int?

    @Option(
        help: ArgumentHelp(
            "The lane: high or bulk. Default: the old job's lane, or bulk when the old job's record has expired.",
            valueName: "lane"))
    var lane: String?

    @Option(reads: ArgumentHelp("A new time to live for the pushes, from now on.", valueName: "duration"))
    var ttl: DurationOption?

    @Flag(help: "Also replays at-most-once pushes that may have been delivered.")
    var evenUnknown = false

    func validate() throws {
        if let id, !Self.isName(id) {
            throw ValidationError("--id must have 1 to 64 characters of A-Z a-z 0-9 _ . - :")
        }
        if let rate, !(1...1_000_000).contains(rate) {
            throw ValidationError("--rate must be from 1 to 1000000.")
        }
        if let lane, Lane(name: lane) == nil { throw ValidationError("--lane must be high or bulk.") }
        if let ttl, !(1...JobLimits.longestTime).contains(ttl.wholeSeconds ?? 0) {
            throw ValidationError("--ttl must be from 1 to \(JobLimits.longestTime) whole seconds.")
        }
        guard !change.isEverything else {
            throw ValidationError("Give either ids, or a selection (--job, --reason, --since).")
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
            name: id ?? JobDraft.freshID(), filter: change.filter, limit: change.limit, rate: rate,
            lane: lane.flatMap { Lane(name: $0) }, ttl: ttl?.wholeSeconds.map { Int($0) },
            takesUnknown: evenUnknown, isDry: change.dryRun)
        try await ReplayRun(client: client, settings: settings, console: console)
            .perform(app: change.selection.app, typed: ["replay"] + change.words + words)
    }

    /// The command's own typed options, for the audit log.
    private var words: [String] {
        func option(_ name: String, _ value: (some CustomStringConvertible)?) -> [String] {
            value.map { ["--" + name, "\($0)"] } ?? []
        }
        return option("id", id) + option("limit", change.limit) + option("rate", rate) + option("lane", lane)
            + option("ttl", ttl) + (evenUnknown ? ["--even-unknown"] : [])
    }
}
