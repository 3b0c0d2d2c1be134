import ArgumentParser
import Campaigns
import EventLoop

struct ListsListCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the uploaded lists.",
        discussion: """
            An upload that was killed is shown as uploading until it expires after a day.
            Campaigns cannot use such a list.

            Example:
              pushfarm lists list --app demo
              pushfarm lists list --app demo --json

            The exit status is 1 when a list cannot be read.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: DeviceAppOptions

    func run(_ client: FarmClient, _ console: Console) async throws {
        let app = try await client.chosenApp(choice.app)
        try await client.mustHave(app: app)
        let found = try await ListStore(client: client, app: app).lists()
        let now = try await client.clock().clampedMilliseconds
        console.show(
            .object(["app": .string(app), "lists": .array(found.lists.map(\.report))]),
            Self.text(found.lists, at: now, console.style))
        guard found.unreadable.isEmpty else {
            let names = found.unreadable.prefix(20).map { PlainText.of($0, limit: 64) }
            throw CommandFailure.failed("these lists cannot be read: \(names.joined(separator: ", "))")
        }
    }

    /// - Parameter now: Unix milliseconds of Redis's clock.
    private static func text(_ lists: [UploadedList], at now: Int64, _ style: TextStyle) -> String {
        guard !lists.isEmpty else { return "no lists\n" }
        var table = Table([
            "LIST": .left, "STATE": .left, "ROWS": .right, "ZONES": .right, "DUPLICATES": .right,
            "REFUSED": .right, "AGE": .right, "EXPIRES IN": .right,
        ])
        for list in lists {
            table.add(
                .init(list.name), .init(list.state.rawValue, list.state == .ready ? nil : .yellow),
                .number(list.rows), .number(list.rowsByZone.count), .number(list.duplicates),
                .number(list.refused), .init(Figures.brief(.milliseconds(max(0, now - list.at)))),
                .init(Figures.brief(.milliseconds(max(0, list.expiresAt - now)))))
        }
        return table.text(style)
    }
}

struct ListsShowCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows the time zones and values of a list.",
        discussion: """
            The command shows the number of rows of each time zone, and for each name of
            values, the number of rows with such a value.

            Example:
              pushfarm lists show readers --app demo
              pushfarm lists show readers --app demo --json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: DeviceAppOptions

    @Argument(help: ArgumentHelp("The name of the list.", valueName: "name"))
    var name: String

    func run(_ client: FarmClient, _ console: Console) async throws {
        let app = try await client.chosenApp(choice.app)
        try await client.mustHave(app: app)
        let list = try await ListStore(client: client, app: app).list(name)
        console.show(list.report, Self.text(list, console.style))
    }

    private static func text(_ list: UploadedList, _ style: TextStyle) -> String {
        var zones = Table(["ZONE": .left, "ROWS": .right])
        for group in list.groups.sorted(by: { ($1.rows, $0.zone ?? "") < ($0.rows, $1.zone ?? "") }) {
            zones.add(.init(group.zone ?? "(none)"), .init(Figures.grouped(group.rows)))
        }
        var columns = Table(["VALUE": .left, "ROWS": .right])
        for column in list.columns {
            columns.add(.init(PlainText.of(column.name, limit: 64)), .init(Figures.grouped(column.rows)))
        }
        let head = "\(list.name): \(list.state.rawValue), \(Figures.counted(list.rows, "row", "rows"))\n"
        return head + (zones.isEmpty ? "" : "\n" + zones.text(style))
            + (columns.isEmpty ? "" : "\n" + columns.text(style))
    }
}

struct ListsRemoveCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes a list.",
        discussion: """
            A campaign to this list that is still running adds no more pushes, and waits
            until it is cancelled.

            Example:
              pushfarm lists remove readers --app demo
              pushfarm lists remove readers --app demo --dry-run
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: DeviceAppOptions

    @Argument(help: ArgumentHelp("The name of the list.", valueName: "name"))
    var name: String

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func run(_ client: FarmClient, _ console: Console) async throws {
        let app = try await client.chosenApp(choice.app)
        try await client.mustHave(app: app)
        let store = ListStore(client: client, app: app)
        let unreadable = try await store.lists().unreadable.contains(name)
        let list = unreadable ? nil : try await store.list(name)
        if !dryRun {
            // The pages of a list that cannot be read expire by themselves.
            try await store.remove(name, version: list?.version)
            try await client.note(["lists", "remove", name, "--app", app], "removed")
        }
        console.show(
            .object([
                "app": .string(app), "name": .string(name), "rows": .whole(list?.rows),
                "dry_run": .bool(dryRun),
            ]), "\(app): list \(PlainText.of(name)) \(dryRun ? "would be removed" : "removed")\n")
    }
}

extension UploadedList {
    /// The list in the output of `--json`.
    var report: JSONValue {
        .object([
            "name": .string(name), "state": .string(state.rawValue), "rows": .number(rows),
            "zones": .counts(rowsByZone), "without_zone": .number(rowsWithoutZone),
            "values": .counts(Dictionary(columns.map { ($0.name, $0.rows) }) { first, _ in first }),
            "duplicates": .number(duplicates), "refused": .number(refused), "by": .string(by),
            "at": .number(at), "expires_at": .number(expiresAt),
        ])
    }
}
