import ArgumentParser
import EventLoop
import PushModel
import StoreProtocol

/// The dead letters that a command applies to.
struct DeadLetterOptions: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("Only this app's dead letters.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(help: ArgumentHelp("Only dead letters of this job.", valueName: "id"))
    var job: String?

    @Option(
        name: .customLong("reason"),
        help: ArgumentHelp(
            "Only dead letters with this reason; repeatable.", valueName: "word"))
    var reasons: [String] = []

    @Option(
        reads: ArgumentHelp(
            "Only dead letters since this time: 90s, 15m, 2h or 3d ago, Unix seconds, or 2026-05-01T10:00:00Z.",
            valueName: "when"))
    var since: Moment?

    /// The options in the form in which an operator types them, for the audit log.
    var words: [String] {
        let moment: String? =
            switch since {
            case .span(let milliseconds): "\(milliseconds / 1000)s"
            case .at(let milliseconds): "\(milliseconds / 1000)"
            case nil: nil
            }
        return (job.map { ["--job", $0] } ?? []) + reasons.flatMap { ["--reason", $0] }
            + (moment.map { ["--since", $0] } ?? []) + (app.map { ["--app", $0] } ?? [])
    }

    var filter: DeadLetterFilter { DeadLetterFilter(job: job, reasons: Set(reasons), since: since) }
}

/// Reads the id of a dead letter or of a refused job.
extension EntryID: OptionValue {
    init(reading text: String) throws(OptionFault) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ UInt64(unbounded: $0) != nil }) else {
            throw OptionFault("an id has two numbers, such as 1780000000123-0")
        }
        self.init(Array(text.utf8))
    }
}

/// The dead letters to replay or drop.
struct DeadLetterChangeOptions: ParsableArguments, Sendable {
    @OptionGroup var selection: DeadLetterOptions

    @Argument(reads: "Ids of dead letters, as \"pushfarm dead list --letters\" shows them.")
    var ids: [EntryID] = []

    @Option(
        reads: ArgumentHelp(
            "Stops after this number of pushes; a dead letter is never split, so the last one may exceed it.",
            valueName: "count"))
    var limit: Int?

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    /// Whether the options select all dead letters of the farm.
    var isEverything: Bool {
        selection.job == nil && selection.reasons.isEmpty && selection.since == nil && ids.isEmpty
    }

    /// The ids and selection options that the operator entered, for the audit log.
    var words: [String] { ids.map(\.description) + selection.words }

    var filter: DeadLetterFilter {
        var filter = selection.filter
        filter.ids = Set(ids)
        return filter
    }

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
    }
}

/// The dead letters of an app that a command selects.
struct DeadLetterFilter: Sendable {
    var job: String?
    /// The selected reasons. An empty set selects any reason.
    var reasons: Set<String> = []
    var since: Moment?
    /// The selected ids. An empty set selects any id.
    var ids: Set<EntryID> = []

    func covers(_ letter: DeadLetter) -> Bool {
        (job == nil || job == letter.job) && (reasons.isEmpty || reasons.contains(letter.reason))
            && (ids.isEmpty || ids.contains(letter.id))
    }

    /// A text that describes the filter. Equal filters have equal texts: a run that continues a replay is refused if
    /// its text is another one.
    var words: String {
        var words: [String] = []
        if let job { words.append("job \(job)") }
        words += reasons.sorted().map { "reason \($0)" }
        switch since {
        case .span(let time):
            words.append("since \(time % 1000 == 0 ? "\(time / 1000) s" : "\(time) ms") ago")
        case .at(let moment): words.append("since \(moment) ms")
        case nil: break
        }
        words += ids.map(\.description).sorted().map { "letter \($0)" }
        return words.isEmpty ? "everything" : words.joined(separator: ", ")
    }
}

extension FarmClient {
    /// How many dead letters are read at a time. The number is small, because a dead letter may have 1 MB.
    private static let letterPage = 64

    /// Passes the selected dead letters to `body`, the oldest first, until `body` returns false.
    ///
    /// - Parameter last: the last dead letter to read, or nil for the newest dead letter at the time of the call.
    func readDeadLetters(
        of app: String, _ filter: DeadLetterFilter, until last: EntryID? = nil,
        _ body: (DeadLetter) async throws(CommandFailure) -> Bool
    ) async throws(CommandFailure) {
        guard let end = if let last { last } else { try await call(LastDeadLetter(), app) } else { return }
        var range = StreamRange.since(0)
        if let since = filter.since {
            range = .since(since.past(now: try await clock().components.seconds * 1000))
        }
        if let first = filter.ids.min() { range = .since(first.milliseconds) }
        while true {
            let reply = try await call(ReadDeadLetters(range, count: Self.letterPage), app)
            for letter in reply.letters {
                if end < letter.id { return }
                if filter.covers(letter), try await !body(letter) { return }
            }
            guard let next = reply.next else { return }
            range = .after(next)
        }
    }

    /// The number of pushes in the dead letters of these apps.
    func deadLetterPushes(of apps: [String]) async throws(CommandFailure) -> Int {
        var total = 0
        for app in apps { total += try await call(CountDeadLetters(), app).pushes }
        return total
    }
}
