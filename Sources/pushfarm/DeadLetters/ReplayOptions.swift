import ArgumentParser
import PushModel

/// How dead letters are sent again.
struct ReplayOptions: ParsableArguments {
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
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789_.-:".unicodeScalars.contains($0))
            }
    }

    /// The options as they were typed, for the audit log.
    private var words: [String] {
        func option(_ name: String, _ value: (some CustomStringConvertible)?) -> [String] {
            value.map { ["--" + name, "\($0)"] } ?? []
        }
        return option("id", id) + option("limit", limit) + option("rate", rate) + option("lane", lane)
            + option("ttl", ttl) + (evenUnknown ? ["--even-unknown"] : [])
    }

    /// - Parameter selected: the ids and options that select dead letters, as they were typed.
    func settings(_ filter: DeadLetterFilter, selected: [String]) -> ReplayAct.Settings {
        ReplayAct.Settings(
            name: id ?? JobDraft.freshID(), filter: filter, words: ["replay"] + selected + words,
            limit: limit, rate: rate,
            lane: lane.flatMap { Lane(name: $0) }, ttl: ttl?.wholeSeconds.map { Int($0) },
            takesUnknown: evenUnknown, isDry: dryRun)
    }
}
