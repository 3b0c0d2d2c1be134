import ArgumentParser
import EventLoop
import PushModel
import StoreProtocol

struct PausedCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "paused",
        abstract: "Lists what is paused or quarantined.",
        discussion: """
            Apps, jobs, tokens and shards that operators paused, jobs that are being
            cancelled, and jobs that the farm quarantined because they crashed workers.

            Example:
              pushfarm paused --app demo --json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(help: ArgumentHelp("Only this app's.", valueName: "name"), completion: .apps)
    var app: String?

    /// One thing that is paused or quarantined.
    struct Row: Sendable {
        let app: String
        let what: String
        let name: String
        let mark: ReadMarks.Mark
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        var rows: [Row] = []
        for name in try await client.apps(meant: app) { rows += try await Self.rows(name, client) }
        let now = try await client.clock().clampedMilliseconds
        console.show(.object(["paused": .array(rows.map(\.json))]), Self.text(rows, at: now, console.style))
    }

    @Loop private static func rows(
        _ app: String, _ client: FarmClient
    ) async throws(CommandFailure) -> [Row] {
        var rows: [Row] = []
        if let pause = try await client.call(ReadStanding(), app).pause {
            let mark = ReadMarks.Mark(
                name: Array(app.utf8), since: pause.since, kind: "pause", by: pause.by ?? "",
                reason: pause.reason)
            rows.append(Row(app: app, what: "app", name: app, mark: mark))
        }
        for (kind, what) in [
            (ReadMarks.Kind.jobs, "job"), (.cancels, "job"), (.shards, "shard"), (.devices, "token"),
        ] {
            for mark in try await client.marks(kind, app) {
                let name =
                    switch kind {
                    case .devices: Hexadecimal.text(of: mark.name)
                    case .shards: String(mark.shardNumber)
                    default: mark.text
                    }
                rows.append(Row(app: app, what: what, name: name, mark: mark))
            }
        }
        return rows
    }

    static func text(_ rows: [Row], at now: Int64, _ style: TextStyle) -> String {
        guard !rows.isEmpty else { return "nothing is paused\n" }
        var table = Table([
            "WHAT": .left, "NAME": .left, "APP": .left, "HOW": .left, "BY": .left, "AGE": .right,
            "REASON": .left,
        ])
        for row in rows {
            table.add(
                .init(row.what), .init(PlainText.of(row.name)), .init(row.app),
                .init(row.mark.kind, row.mark.kind == "poison" ? .red : .yellow),
                .init(row.mark.by.isEmpty ? "the farm" : row.mark.by),
                .init(Figures.brief(.milliseconds(max(0, now - row.mark.since)))),
                .init(PlainText.of(row.mark.reason, limit: 300)))
        }
        return table.text(style)
    }
}

extension PausedCommand.Row {
    var json: JSONValue {
        .object([
            "what": .string(what), "name": .string(name), "app": .string(app), "how": .string(mark.kind),
            "by": .text(mark.by.isEmpty ? nil : mark.by), "since": .number(mark.since),
            "from": mark.kind == "cancel" ? .number(mark.from) : .null, "reason": .text(mark.reason),
        ])
    }
}
