import ArgumentParser
import EventLoop
import FarmLogging
import PushModel
import StoreProtocol

struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Shows events for producers and operators.",
        discussion: """
            Shows the events stream of each app, the oldest event first. The page
            docs/jobs.md describes the events. With --follow, the command waits for new
            events, also while Redis is not reachable. Control-C ends the command with exit
            status 0.

            Example:
              pushfarm events --since 15m --type app.paused --type admission.closed
              pushfarm events --app demo --follow
              pushfarm events --operations --since 1d
              pushfarm events --follow --type token.invalid --json | jq -r .token
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(help: ArgumentHelp("Only this app's events.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(
        name: .customLong("type"),
        help: ArgumentHelp(
            "Only events of this type; \"job.\" selects all types that begin with \"job.\"; repeatable.",
            valueName: "type"),
        completion: .list(FarmEvent.Kind.allCases.map(\.rawValue)))
    var types: [String] = []

    @Option(
        reads: ArgumentHelp(
            "All events since this time: 90s, 15m, 2h or 3d ago, Unix seconds, or 2026-05-01T10:00:00Z.",
            valueName: "when"))
    var since: Moment?

    @Option(
        reads: ArgumentHelp(
            "Without --since: the number of latest events to show. Default: 100; with --follow: 0.",
            valueName: "count"
        ))
    var limit: Int?

    @Flag(help: "Shows the audit log: commands of operators and replies of hosts.")
    var operations = false

    @Flag(name: .shortAndLong, help: "Waits for new events.")
    var follow = false

    func validate() throws {
        if let limit, !(0...1_000_000).contains(limit) {
            throw ValidationError("--limit must be from 0 to 1000000.")
        }
        if operations, app != nil {
            throw ValidationError("Give only one of --operations and --app.")
        }
        if limit != nil, since != nil { throw ValidationError("Give only one of --limit and --since.") }
        // With `--operations`, do not check the types: the audit log may contain commands of a newer release, which
        // this release does not know.
        if !operations, let problem = types.lazy.compactMap(EventPrinter.problem).first {
            throw ValidationError(problem)
        }
    }

    func run() throws {
        let configuration = try common.load()
        let latest = limit ?? (follow ? 0 : 100)
        try Loop.run { @Loop in
            let end = follow ? EndSignal() : nil
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            let apps = try await client.apps(selectedBy: app)
            guard operations || !apps.isEmpty else {
                throw CommandFailure.usage("this farm has no app")
            }
            let printer = EventPrinter(console: Console(json: common.json), types: types)
            let tail = EventTail(client, operations ? [.operations] : apps.map { .events($0) })
            if let since {
                let now = try await client.clock().components.seconds * 1000
                try await tail.read(since: since.past(now: now), printer.show)
            } else if latest > 0 {
                for line in try await tail.latest(latest, where: printer.isWanted) { try printer.show(line) }
            } else {
                try await tail.skip()
            }
            guard follow else { return try printer.finish(operations ? "operations" : "events") }
            try printer.flush()
            let closer = Loop.task {
                await end?.wait()
                client.close()
            }
            defer { closer.cancel() }
            tail.onTrouble = { error in
                let what =
                    error.map { "\(client.redisAddress): \($0); waiting" }
                    ?? "\(client.redisAddress): reachable again"
                Terminal.write("pushfarm: \(what)\n", to: Terminal.standardError)
            }
            try await tail.follow { (line) throws(CommandFailure) in
                try printer.show(line)
                try printer.flush()
            }
        }
    }
}

/// Prints events of the wanted types, one per line.
@Loop private final class EventPrinter {
    private let console: Console
    private let types: [String]
    private var sink = TextSink()
    private var isEmpty = true

    /// - Parameter types: the wanted types, or empty for all. A type that ends in a dot selects all types that begin with it.
    init(console: Console, types: [String]) { (self.console, self.types) = (console, types) }

    /// The error message if no event can have the wanted type; nil if the type is valid.
    nonisolated static func problem(_ wanted: String) -> String? {
        let types = FarmEvent.Kind.allCases.map(\.rawValue)
        guard !types.contains(where: { isSelected($0, by: wanted) }) else { return nil }
        let nearest = NearestWord.find(wanted, among: types)
        return "there are no events of type \(PlainText.of(wanted, limit: 40)); "
            + (nearest.map { "did you mean \($0)?" } ?? "there are " + types.sorted().joined(separator: ", "))
    }

    private nonisolated static func isSelected(_ type: String, by wanted: String) -> Bool {
        wanted.hasSuffix(".") ? type.hasPrefix(wanted) : type == wanted
    }

    func isWanted(_ event: EventEntry) -> Bool {
        let type = event.type
        return types.isEmpty || types.contains { Self.isSelected(type, by: $0) }
    }

    func show(_ line: EventTail.Line) throws(CommandFailure) {
        guard isWanted(line.event) else { return }
        isEmpty = false
        try sink.write(console.json ? line.json.description : line.text(console.colours))
    }

    func flush() throws(CommandFailure) { try sink.flush() }

    /// If no event was shown, writes a line that says this, except with `--json`.
    func finish(_ what: String) throws(CommandFailure) {
        if isEmpty, !console.json { try sink.write("no " + what) }
        try flush()
    }
}
