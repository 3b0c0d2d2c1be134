import ArgumentParser
import EventLoop
import Segments
import StoreProtocol

struct SegmentsSaveCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Saves a segment under a name.",
        discussion: """
            If the app already has a saved segment with this name, the command replaces it.
            A name has 1 to 64 letters, digits, dots, hyphens and underscores, and begins
            with a letter or a digit. An app can have 1,000 saved segments.

            Example:
              pushfarm segments save fans 'tag:sport & zone:Europe/*' --app demo
              pushfarm segments save fans 'tag:sport' --app demo --dry-run
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: SegmentAppOptions

    @Argument(help: ArgumentHelp("The name of the saved segment.", valueName: "name"))
    var name: String

    @Argument(help: ArgumentHelp("The segment's expression.", valueName: "expression"))
    var expression: String

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func validate() throws {
        guard !SavedSegment.isName(name) else { return }
        throw ValidationError(
            "A segment's name has 1 to 64 letters, digits, dots, hyphens and underscores, begins with a letter"
                + " or a digit, and is not all.")
    }

    func check() throws(CommandFailure) { _ = try SegmentExpression(reading: expression) }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let app = try await client.chosenApp(choice.app)
        try await client.mustHave(app: app)
        let saved = try await client.call(ReadSegments(), app)
        let names = Set(saved.segments.map(\.name) + saved.unreadable)
        let old = saved.segments.first { $0.name == name }
        guard names.contains(name) || names.count < SavedSegment.most else {
            throw CommandFailure.failed(
                "\(app) has \(Figures.grouped(names.count)) saved segments: remove one")
        }
        let change = old?.expression != expression
        if change, !dryRun {
            let now = try await client.clock().clampedMilliseconds
            let segment = SavedSegment(name: name, expression: expression, by: OperatorName.current, at: now)
            _ = try await client.call(SaveSegment(segment), app)
            try await client.note(["segments", "save", name, expression, "--app", app], "saved")
        }
        let verb =
            !change ? "was saved already" : dryRun ? "would be saved" : old == nil ? "saved" : "replaced"
        console.show(
            .object([
                "app": .string(app), "name": .string(name), "expression": .string(expression),
                "before": .text(old?.expression), "changed": .bool(change), "dry_run": .bool(dryRun),
            ]), "\(app): segment \(name) \(verb)\n")
    }
}

struct SegmentsRemoveCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes a saved segment.",
        discussion: """
            The command removes only the saved expression. The devices of the segment stay
            stored.

            Example:
              pushfarm segments remove fans --app demo
              pushfarm segments remove fans --app demo --dry-run
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: SegmentAppOptions

    @Argument(help: ArgumentHelp("The name of the saved segment.", valueName: "name"))
    var name: String

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func run(_ client: FarmClient, _ console: Console) async throws {
        let app = try await client.chosenApp(choice.app)
        try await client.mustHave(app: app)
        let saved = try await client.call(ReadSegments(), app)
        let old = saved.segments.first { $0.name == name }
        guard old != nil || saved.unreadable.contains(name) else {
            throw CommandFailure.noSegment(name, app, saved)
        }
        if !dryRun, try await client.call(RemoveSegment(name: name), app) {
            try await client.note(["segments", "remove", name, "--app", app], "removed")
        }
        console.show(
            .object([
                "app": .string(app), "name": .string(name), "before": .text(old?.expression),
                "dry_run": .bool(dryRun),
            ]), "\(app): segment \(PlainText.of(name)) \(dryRun ? "would be removed" : "removed")\n")
    }
}
