import ArgumentParser
import EventLoop
import FarmLogging
import PushModel

struct SuppressedListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists suppressed tokens.",
        discussion: """
            Example:
              pushfarm suppressed list --app demo
              pushfarm suppressed list --app demo --token $TOKEN --json

            With --json each token is a document on a line of its own.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: SuppressionOptions

    @Option(
        name: .customLong("token"), parsing: .upToNextOption,
        help: ArgumentHelp("Only these, as hex.", valueName: "hex"))
    var tokens: [String] = []

    func run() throws {
        let (selection, json) = (selection, common.json)
        let wanted = try TokenOptions.bytes(of: tokens)
        try common.withClient { client in
            let app = try await client.chosenApp(selection.app)
            let store = try await SuppressionStore.open(client, app: app)
            var sink = try TextSink(nil)
            var count = 0
            let shards = Set(wanted.map { store.shard(of: $0) })
            for shard in 0..<store.shards where wanted.isEmpty || shards.contains(shard) {
                let lines = try await store.lines(of: shard) {
                    selection.covers($0) && (wanted.isEmpty || wanted.contains($0.token))
                }
                count += lines.count
                for line in lines { try sink.write(json ? line.json.description : Self.row(line)) }
            }
            if count == 0, !json { try sink.write("no suppressed tokens") }
            try sink.finish()
        }
    }

    private static func row(_ line: SuppressionLine) -> String {
        let reason = line.reason.name
        let space = String(repeating: " ", count: max(1, 24 - reason.utf8.count))
        return "\(line.tokenText)  \(reason)\(space)\(Timestamp(milliseconds: line.time * 1000))  "
            + "\(line.scope.topic.isEmpty ? "-" : line.scope.topic)  \(line.scope.environment)"
    }
}
