import StoreProtocol

/// Dead letters counted by app, reason and age.
struct DeadLetterSummary {
    /// The dead letters of one app and reason.
    private struct Group {
        let app: String
        let reason: String
        var letters = 0
        var pushes = 0
        var jobs: Set<String> = []
        var oldest = Int64.max
        var youngest: Int64 = 0
        /// Pushes by age: less than an hour, less than a day, less than a week, more.
        var ages = [0, 0, 0, 0]
    }

    /// The present time in Unix milliseconds.
    let now: Int64
    private var apps: [(name: String, count: CountDeadLetters.Reply)] = []
    private var groups: [String: Group] = [:]

    private static let hour: Int64 = 3_600_000
    private static let limits = [hour, 24 * hour, 168 * hour]

    init(now: Int64) { self.now = now }

    mutating func add(_ count: CountDeadLetters.Reply, app: String) { apps.append((app, count)) }

    mutating func add(_ letter: DeadLetter, app: String) {
        let age = max(0, now - letter.id.milliseconds)
        var group = groups[app + " " + letter.reason] ?? Group(app: app, reason: letter.reason)
        group.letters += 1
        group.pushes += letter.pushes
        group.jobs.insert(letter.job)
        group.oldest = min(group.oldest, letter.id.milliseconds)
        group.youngest = max(group.youngest, letter.id.milliseconds)
        group.ages[Self.limits.firstIndex { age < $0 } ?? Self.limits.count] += letter.pushes
        groups[app + " " + letter.reason] = group
    }

    private var sorted: [Group] {
        groups.values.sorted { ($0.app, $1.pushes, $0.reason) < ($1.app, $0.pushes, $1.reason) }
    }

    var json: JSONValue {
        .object([
            "apps": .array(
                apps.map { app in
                    .object([
                        "app": .string(app.name), "pushes": .number(app.count.pushes),
                        "bytes": .number(app.count.bytes), "trimmed": .number(app.count.trimmed),
                        "dropped": .number(app.count.dropped),
                    ])
                }),
            "reasons": .array(
                sorted.map { group in
                    .object([
                        "app": .string(group.app), "reason": .string(group.reason),
                        "pushes": .number(group.pushes), "dead_letters": .number(group.letters),
                        "jobs": .number(group.jobs.count), "oldest": .number(group.oldest),
                        "youngest": .number(group.youngest),
                        "ages": .object([
                            "hour": .number(group.ages[0]), "day": .number(group.ages[1]),
                            "week": .number(group.ages[2]), "older": .number(group.ages[3]),
                        ]),
                    ])
                }),
        ])
    }

    func text(_ style: TextStyle) -> String {
        let trimmed = apps.filter { $0.count.trimmed > 0 }.map { app in
            "\(app.name): \(Figures.grouped(app.count.trimmed)) pushes were dropped for their age or number\n"
        }
        guard !groups.isEmpty else { return "no dead letters\n" + trimmed.joined() }
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
        return table.text(style) + trimmed.joined()
    }
}

/// A table of dead letters, one in each row.
struct DeadLetterList {
    typealias Line = (app: String, letter: DeadLetter)

    /// The present time in Unix milliseconds.
    let now: Int64
    let lines: [Line]

    var json: JSONValue {
        .object([
            "dead_letters": .array(
                lines.map { app, letter in
                    .object([
                        "id": .string(letter.id.description), "app": .string(app), "job": .string(letter.job),
                        "reason": .string(letter.reason), "status": .number(letter.status),
                        "at": .number(letter.id.milliseconds), "pushes": .number(letter.pushes),
                    ])
                })
        ])
    }

    func text(_ style: TextStyle) -> String {
        guard !lines.isEmpty else { return "no dead letters\n" }
        var table = Table([
            "ID": .right, "APP": .left, "AGE": .right, "PUSHES": .right, "JOB": .left, "REASON": .left,
        ])
        for (app, letter) in lines {
            table.add(
                .init("\(letter.id)"), .init(app),
                .init(Figures.brief(.milliseconds(max(0, now - letter.id.milliseconds)))),
                .init(Figures.grouped(letter.pushes)), .init(PlainText.of(letter.job)),
                .init(PlainText.of(letter.reason), .red))
        }
        return table.text(style)
    }
}
