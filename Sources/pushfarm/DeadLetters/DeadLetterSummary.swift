import FarmLogging
import StoreProtocol

/// Dead letters summed up by app, reason and age, or one by one.
struct DeadLetterSummary: Sendable {
    struct App: Sendable {
        let name: String
        let count: CountDeadLetters.Reply
    }

    /// The letters of one app and reason.
    struct Group: Sendable {
        let app: String
        let reason: String
        var letters = 0
        var pushes = 0
        var jobs: Set<String> = []
        var oldest = Int64.max
        var youngest: Int64 = 0
        /// Pushes by age: younger than an hour, a day, a week, older.
        var ages = [0, 0, 0, 0]
    }

    struct Line: Sendable {
        let app: String
        let letter: DeadLetter
        /// Milliseconds.
        let age: Int64
    }

    /// Unix milliseconds.
    let now: Int64
    private var groups: [String: Group] = [:]
    private(set) var letters: [Line] = []

    private static let hour: Int64 = 3_600_000
    private static let limits = [hour, 24 * hour, 168 * hour]

    init(now: Int64) { self.now = now }

    /// - Parameter keeping: each is wanted, and not sums.
    mutating func add(_ letter: DeadLetter, app: String, keeping: Bool) {
        let age = max(0, now - letter.id.milliseconds)
        if keeping { return letters.append(Line(app: app, letter: letter, age: age)) }
        let key = app + " " + letter.reason
        var group = groups[key] ?? Group(app: app, reason: letter.reason)
        group.letters += 1
        group.pushes += letter.pushes
        group.jobs.insert(letter.job)
        group.oldest = min(group.oldest, letter.id.milliseconds)
        group.youngest = max(group.youngest, letter.id.milliseconds)
        group.ages[Self.limits.firstIndex { age < $0 } ?? Self.limits.count] += letter.pushes
        groups[key] = group
    }

    private var sorted: [Group] {
        groups.values.sorted { ($0.app, $1.pushes, $0.reason) < ($1.app, $0.pushes, $1.reason) }
    }

    func json(_ apps: [App]) -> JSONValue {
        .object([
            "apps": .array(
                apps.map { app in
                    .object([
                        "app": .string(app.name), "pushes": .number(app.count.pushes),
                        "bytes": .number(app.count.bytes), "trimmed": .number(app.count.trimmed),
                        "dropped": .number(app.count.dropped),
                    ])
                }),
            "reasons": .array(sorted.map(\.json)),
        ])
    }

    func text(_ apps: [App], _ style: TextStyle) -> String {
        var text = ""
        if groups.isEmpty {
            text = "no dead letters\n"
        } else {
            var table = Table([
                "APP": .left, "REASON": .left, "PUSHES": .right, "JOBS": .right, "<1 H": .right,
                "<1 DAY": .right, "<1 WEEK": .right, "OLDEST": .right,
            ])
            for group in sorted {
                let ages = group.ages.map { Table.Cell($0 == 0 ? "" : Figures.short($0)) }
                table.add(
                    .init(group.app), .init(PlainText.of(group.reason), .red),
                    .init(Figures.short(group.pushes)), .init(Figures.short(group.jobs.count)),
                    ages[0], ages[1], ages[2],
                    .init(Figures.brief(.milliseconds(max(0, now - group.oldest)))))
            }
            text = table.text(style)
        }
        for app in apps where app.count.trimmed > 0 {
            text +=
                "\(app.name): \(Figures.grouped(app.count.trimmed)) pushes were dropped for their age or number\n"
        }
        return text
    }

    func letterTable(_ style: TextStyle) -> String {
        guard !letters.isEmpty else { return "no dead letters\n" }
        var table = Table([
            "ID": .right, "APP": .left, "AGE": .right, "PUSHES": .right, "JOB": .left, "REASON": .left,
        ])
        for line in letters {
            table.add(
                .init("\(line.letter.id)"), .init(line.app), .init(Figures.brief(.milliseconds(line.age))),
                .init(Figures.grouped(line.letter.pushes)), .init(PlainText.of(line.letter.job)),
                .init(PlainText.of(line.letter.reason), .red))
        }
        return table.text(style)
    }
}

extension DeadLetterSummary.Group {
    fileprivate var json: JSONValue {
        .object([
            "app": .string(app), "reason": .string(reason), "pushes": .number(pushes),
            "dead_letters": .number(letters), "jobs": .number(jobs.count), "oldest": .number(oldest),
            "youngest": .number(youngest),
            "ages": .object([
                "hour": .number(ages[0]), "day": .number(ages[1]), "week": .number(ages[2]),
                "older": .number(ages[3]),
            ]),
        ])
    }
}

extension DeadLetterSummary.Line {
    var json: JSONValue {
        .object([
            "id": .string(letter.id.description), "app": .string(app), "job": .string(letter.job),
            "reason": .string(letter.reason), "status": .number(letter.status),
            "at": .number(letter.id.milliseconds), "pushes": .number(letter.pushes),
        ])
    }
}
