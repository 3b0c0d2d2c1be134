import ArgumentParser
import EventLoop
import PushModel

struct SuppressedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suppressed",
        abstract: "Shows and changes the suppression list.",
        discussion: """
            An app's suppression list has the tokens to which the farm sends no push, for a
            limited time. Pushes to a suppressed token fail with the reason "suppressed".
            An entry of the list applies to one topic in one environment.

            Example:
              pushfarm suppressed list --app demo
              pushfarm suppressed remove --app demo --token $TOKEN
              pushfarm suppressed export --app demo --file invalid.txt
            """,
        subcommands: [
            SuppressedListCommand.self, SuppressedAddCommand.self, SuppressedRemoveCommand.self,
            SuppressedImportCommand.self, SuppressedExportCommand.self, SuppressedConfirmCommand.self,
            SuppressedDiscardCommand.self,
        ])
}

struct SuppressedListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists suppressed tokens.",
        discussion: """
            Example:
              pushfarm suppressed list --app demo
              pushfarm suppressed list --app demo --token $TOKEN --json

            With --json, each token is a JSON document on its own line.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: SuppressionOptions

    @Option(
        name: .customLong("token"), parsing: .upToNextOption,
        help: ArgumentHelp("Only these tokens, as hex.", valueName: "hex"))
    var tokens: [String] = []

    func run() throws {
        let wanted = try TokenOptions.bytes(of: tokens)
        try selection.withStore(common) { store in
            var sink = try TextSink(nil)
            var count = 0
            let shards = Set(wanted.map { store.shard(of: $0) })
            for shard in 0..<store.shards where wanted.isEmpty || shards.contains(shard) {
                let lines = try await store.lines(of: shard) {
                    selection.covers($0) && (wanted.isEmpty || wanted.contains($0.token))
                }
                count += lines.count
                for line in lines { try sink.write(common.json ? line.json.description : line.row) }
            }
            if count == 0, !common.json { try sink.write("no suppressed tokens") }
            try sink.finish()
        }
    }
}

struct SuppressedExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Exports suppressed tokens to a file.",
        discussion: """
            Writes one line per token: the token as hex, the reason, the time since which
            the token is invalid (Unix seconds), the topic, the environment. The command
            "pushfarm suppressed import" reads this file.

            Example:
              pushfarm suppressed export --app demo --file invalid.txt
              pushfarm suppressed export --app demo | gzip > invalid.gz
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: SuppressionOptions

    @Option(help: ArgumentHelp("The file to write. Default: standard output.", valueName: "file"))
    var file: String?

    func run() throws {
        let count = try selection.withStore(common) { store in
            var sink = try TextSink(file)
            var progress = ProgressLine("shards", total: store.shards, quiet: common.json || file == nil)
            defer { progress.finish() }
            var count = 0
            for shard in 0..<store.shards {
                for line in try await store.lines(of: shard, where: selection.covers) {
                    try sink.write(line.text)
                    count += 1
                }
                progress.update(shard + 1)
            }
            try sink.finish()
            return count
        }
        guard file != nil else { return }
        Console(json: common.json).show(
            .object(["exported": .number(count)]), "\(Figures.grouped(count)) tokens exported\n")
    }
}
