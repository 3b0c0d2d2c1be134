/// The result of a screening: submitted = good + invalid + rest + duplicates + malformed + open.
struct ScreeningSummary: Sendable {
    var app: String
    var survey: TokenSurvey
    var tally: ScreeningTally
    var duplicates: Int
    var paths: ScreeningFiles.Paths
    var time: Duration

    /// The number of lines that are neither empty nor a comment.
    var submitted: Int { survey.tokens + survey.malformedCount }
    /// The number of tokens that have no outcome yet.
    var open: Int { survey.tokens - tally.count - duplicates }
    /// Whether every line is well-formed and every token is good or invalid.
    var isClear: Bool { open == 0 && tally.undecidedCount == 0 && survey.malformedCount == 0 }

    private static let named = 20

    var json: JSONValue {
        .object([
            "app": .string(app), "state": .string(open == 0 ? "finished" : "interrupted"),
            "submitted": .number(submitted), "good": .number(tally.good),
            "invalid": .number(tally.invalidCount), "rest": .number(tally.undecidedCount),
            "duplicates": .number(duplicates),
            "malformed": .number(survey.malformedCount), "open": .number(open),
            "suppressed_before": .number(tally.known), "invalid_reasons": .counts(tally.invalid),
            "rest_reasons": .counts(tally.undecided),
            "malformed_lines": .array(
                survey.malformed.map {
                    .object(["line": .number($0.line), "reason": .string($0.reason)])
                }),
            "good_file": .string(paths.good), "invalid_file": .string(paths.invalid),
            "rest_file": .string(paths.rest),
        ])
    }

    func text(_ style: TextStyle) -> String {
        var table = FactTable()
        table.add("submitted", submitted, always: true)
        table.add("good", tally.good, .green, note: paths.good, always: true)
        table.add("invalid", tally.invalidCount, .red, note: paths.invalid, always: true)
        table.add(reasons: tally.invalid)
        table.add("neither", tally.undecidedCount, .yellow, note: paths.rest)
        table.add(reasons: tally.undecided)
        table.add("duplicates", duplicates)
        table.add("malformed", survey.malformedCount, .yellow)
        table.add("open", open, .yellow)
        table.add("suppressed before", tally.known, note: "of the invalid tokens: not sent")
        let head = Paint.bold.on("\(app) screening", if: style.colours)
        let state = open == 0 ? "finished" : "interrupted"
        return "\(head)  \(state) in \(Figures.time(time))\n" + table.text(style) + faults
    }

    private var faults: String {
        let lines = survey.malformed.prefix(Self.named).map { "line \($0.line): \($0.reason)\n" }.joined()
        let more = survey.malformedCount - min(survey.malformed.count, Self.named)
        return more > 0 ? lines + "and \(Figures.grouped(more)) lines more\n" : lines
    }
}
