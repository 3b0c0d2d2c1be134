import ArgumentParser
import EventLoop
import PushModel

struct SuppressedAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Suppresses tokens.",
        discussion: """
            The defaults of --topic and --environment are the topic and the environment of
            the app's configuration. The command reads only the first word of each line of
            the tokens file.

            Example:
              pushfarm suppressed add --app demo --token $TOKEN
              pushfarm suppressed add --app demo --tokens-file unsubscribed.txt
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: SuppressionOptions
    @OptionGroup var list: TokenOptions

    @Option(
        help: ArgumentHelp(
            "The reason: Operator, or a gateway's reason such as Unregistered.", valueName: "reason"))
    var reason = SuppressionReason.operator.name

    func validate() throws {
        guard SuppressionReason(name: reason) == nil else { return }
        throw ValidationError(
            "--reason must be one of " + SuppressionReason.allCases.map(\.name).joined(separator: ", ") + ".")
    }

    func run() throws {
        _ = try TokenOptions.bytes(of: list.given.tokens)
        if let file = list.given.tokensFile { try TextFile.check(readable: file) }
        let report = try selection.withStore(common) { store in
            var defaults = try await selection.defaults(store)
            defaults.reason = SuppressionReason(name: reason) ?? .operator
            guard defaults.topic != nil, defaults.environment != nil else {
                throw CommandFailure.usage(
                    "\(store.app) is not configured here; give --topic and --environment")
            }
            var run = SuppressionImport(
                store: store, defaults: defaults, isQuiet: true, takesTokensOnly: true)
            for token in list.given.tokens { try await run.take(token[...]) }
            if let file = list.given.tokensFile { try await run.take(file: file) }
            return try await run.finish()
        }
        try report.show(Console(json: common.json), "suppressed")
    }
}

struct SuppressedRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes tokens from the suppression list.",
        discussion: """
            Example:
              pushfarm suppressed remove --app demo --token $TOKEN
              pushfarm suppressed remove --app demo --tokens-file alive.txt

            The command reads only the first word of each line of the tokens file, so it
            accepts a file that "pushfarm suppressed export" wrote.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: SuppressionOptions
    @OptionGroup var list: TokenOptions

    func run() throws {
        let tokens = try list.all()
        let removed = try selection.withStore(common) { store in
            var store = store
            var removed: Set<[UInt8]> = []
            for shard in Set(tokens.map { store.shard(of: $0) }) {
                let lines = try await store.lines(of: shard) {
                    selection.covers($0) && tokens.contains($0.token)
                }
                try await store.write(lines, isRemoval: true)
                removed.formUnion(lines.map(\.token))
            }
            return removed.count
        }
        let others = tokens.count - removed
        Console(json: common.json).show(
            .object(["removed": .number(removed), "unknown": .number(others)]),
            "\(Figures.grouped(removed)) tokens removed"
                + (others > 0 ? "; \(Figures.grouped(others)) were not suppressed" : "") + "\n")
    }
}

struct SuppressedImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports suppressed tokens from an exported file.",
        discussion: """
            A line has a token and then, optionally, up to four words in this order: a
            reason, the time since which the token is invalid (Unix seconds,
            2026-05-01T10:00:00Z, or 3d for three days ago), a topic, an environment. The
            defaults are the reason "Operator", the present time, and the app's own topic
            and environment. A line that begins with # is a comment. The command imports
            the readable lines and prints the numbers of the unreadable lines. The exit
            status is 1 when a line was unreadable.

            Example:
              pushfarm suppressed import --app demo invalid.txt
              cut -d, -f1 invalid.csv | pushfarm suppressed import --app demo -
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: SuppressionOptions

    @Argument(help: "The file, or \"-\" for standard input.")
    var file: String

    func run() throws {
        try TextFile.check(readable: file)
        let report = try selection.withStore(common) { store in
            var run = SuppressionImport(
                store: store, defaults: try await selection.defaults(store), isQuiet: common.json)
            try await run.take(file: file)
            return try await run.finish()
        }
        try report.show(Console(json: common.json), "imported")
    }
}
