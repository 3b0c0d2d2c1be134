import ArgumentParser
import EventLoop
import FarmLogging
import RedisClient
import StoreProtocol

struct SuppressedExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Exports suppressed tokens to a file.",
        discussion: """
            One token a line: the token as hex, the reason, Unix seconds since when it
            is invalid, the topic, the environment. import reads it.

            Example:
              pushfarm suppressed export --app demo --file invalid.txt
              pushfarm suppressed export --app demo | gzip > invalid.gz
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: SuppressionOptions

    @Option(help: ArgumentHelp("Where to; without it, standard output.", valueName: "file"))
    var file: String?

    func run() throws {
        let selection = selection
        let (file, json) = (file, common.json)
        let count = try common.withClient { client in
            let app = try await client.chosenApp(selection.app)
            let store = try await SuppressionStore.open(client, app: app)
            var sink = try TextSink(file)
            var progress = ProgressLine("shards", total: store.shards, quiet: json || file == nil)
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
        Console(json: json).show(
            .object(["exported": .number(count)]), "\(Figures.grouped(count)) tokens exported\n")
    }
}
