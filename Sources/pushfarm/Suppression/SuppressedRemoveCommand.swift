import ArgumentParser
import EventLoop
import PushModel
import RedisClient
import StoreProtocol

struct SuppressedRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes tokens from the suppression list.",
        discussion: """
            Example:
              pushfarm suppressed remove --app demo --token $TOKEN
              pushfarm suppressed remove --app demo --tokens-file alive.txt

            Only the first word of a line is read, so a file of export will do.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: SuppressionOptions
    @OptionGroup var list: TokenOptions

    func validate() throws {
        guard !list.isEmpty else { throw ValidationError("Give --token or --tokens-file.") }
    }

    func run() throws {
        let selection = selection
        let tokens = try tokens()
        let removed = try common.withClient { client in
            let app = try await client.chosenApp(selection.app)
            var store = try await SuppressionStore.open(client, app: app)
            let shards = Dictionary(grouping: tokens) { store.shard(of: $0) }
            var removed: Set<[UInt8]> = []
            for (shard, some) in shards {
                let some = Set(some)
                let lines = try await store.lines(of: shard) {
                    selection.covers($0) && some.contains($0.token)
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

    private func tokens() throws(CommandFailure) -> Set<[UInt8]> {
        var tokens = try TokenOptions.bytes(of: list.tokens)
        guard let file = list.tokensFile else { return tokens }
        var lines = try TextLines(file)
        var number = 0
        while let line = try lines.next() {
            number += 1
            guard !SuppressionLine.isEmpty(line),
                let word = line.split(whereSeparator: \.isWhitespace).first
            else { continue }
            do { tokens.insert(try DeviceToken.bytes(of: word)) } catch {
                throw .usage("\(file), line \(number): \(error)")
            }
        }
        return tokens
    }
}
