import ArgumentParser
import EventLoop
import PushModel
import StoreProtocol

struct PausedCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "paused",
        abstract: "Lists what is paused or quarantined.",
        discussion: """
            Lists the apps, jobs, tokens and shards that are paused, jobs that are being
            cancelled, and jobs that the farm quarantined because they crashed workers.

            Example:
              pushfarm paused --app demo --json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(
        help: ArgumentHelp("Only this app's pauses and quarantines.", valueName: "name"), completion: .apps)
    var app: String?

    /// An app, job, token or shard that is paused or quarantined.
    struct Row: Sendable {
        let app: String
        let what: String
        let name: String
        let item: ReadPauses.Item
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        var rows: [Row] = []
        for name in try await client.apps(selectedBy: app) { rows += try await Self.rows(name, client) }
        let now = try await client.clock().clampedMilliseconds
        console.show(.object(["paused": .array(rows.map(\.json))]), Self.text(rows, at: now, console.style))
    }

    @Loop private static func rows(
        _ app: String, _ client: FarmClient
    ) async throws(CommandFailure) -> [Row] {
        var rows: [Row] = []
        if let pause = try await client.call(ReadAppState(), app).pause {
            let item = ReadPauses.Item(
                name: Array(app.utf8), since: pause.since, kind: "pause", by: pause.by ?? "",
                reason: pause.reason)
            rows.append(Row(app: app, what: "app", name: app, item: item))
        }
        for (kind, what) in [
            (ReadPauses.Kind.jobs, "job"), (.cancels, "job"), (.shards, "shard"), (.tokens, "token"),
        ] {
            for item in try await client.pauses(kind, app) {
                let name =
                    switch kind {
                    case .tokens: Hexadecimal.text(of: item.name)
                    case .shards: String(item.shardNumber)
                    default: item.text
                    }
                rows.append(Row(app: app, what: what, name: name, item: item))
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
                .init(row.item.kind, row.item.kind == "poison" ? .red : .yellow),
                .init(row.item.by.isEmpty ? "the farm" : row.item.by),
                .init(Figures.brief(.milliseconds(max(0, now - row.item.since)))),
                .init(PlainText.of(row.item.reason, limit: 300)))
        }
        return table.text(style)
    }
}

extension PausedCommand.Row {
    var json: JSONValue {
        .object([
            "what": .string(what), "name": .string(name), "app": .string(app), "how": .string(item.kind),
            "by": .text(item.by.isEmpty ? nil : item.by), "since": .number(item.since),
            "from": item.kind == "cancel" ? .number(item.from) : .null, "reason": .text(item.reason),
        ])
    }
}
