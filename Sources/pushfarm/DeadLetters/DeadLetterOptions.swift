import ArgumentParser

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
