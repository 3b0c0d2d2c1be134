import ArgumentParser
import PushModel
import StoreProtocol

/// Which dead letters a command is about.
struct DeadLetterOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only this app's.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(help: ArgumentHelp("Only of this job.", valueName: "id"))
    var job: String?

    @Option(
        name: .customLong("reason"),
        help: ArgumentHelp(
            "Only those that failed for this reason; several times for several.", valueName: "word"))
    var reasons: [String] = []

    @Option(
        reads: ArgumentHelp(
            "Only since then: 90s, 15m, 2h or 3d ago, Unix seconds, or 2026-05-01T10:00:00Z.",
            valueName: "when"))
    var since: Moment?

    /// All letters of the farm are meant.
    var isEverything: Bool { job == nil && reasons.isEmpty && since == nil }

    /// The options as they were typed, for the audit log.
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

    func filter(ids: [String] = []) throws(CommandFailure) -> DeadLetterFilter {
        var filter = try Self.filter(of: ids)
        (filter.job, filter.reasons, filter.since) = (job, Set(reasons), since)
        return filter
    }

    static func filter(of ids: [String]) throws(CommandFailure) -> DeadLetterFilter {
        for id in ids where !DeadLetterFilter.isID(id) {
            throw .usage("\(id.prefix(64)) is no id of a dead letter; they look like 1780000000123-0")
        }
        return DeadLetterFilter(ids: Set(ids))
    }
}

/// Which letters of an app are meant.
struct DeadLetterFilter: Sendable {
    var job: String?
    /// Empty: any.
    var reasons: Set<String> = []
    var since: Moment?
    /// Empty: any.
    var ids: Set<String> = []

    func covers(_ letter: DeadLetter) -> Bool {
        (job == nil || job == letter.job) && (reasons.isEmpty || reasons.contains(letter.reason))
            && (ids.isEmpty || ids.contains(letter.id.description))
    }

    /// The same words for the same filter: how a replay is known again.
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
        words += ids.sorted().map { "letter \($0)" }
        return words.isEmpty ? "everything" : words.joined(separator: ", ")
    }

    /// `ms-number`, as Redis makes it.
    static func isID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { UInt64(unbounded: $0) != nil }
    }
}
