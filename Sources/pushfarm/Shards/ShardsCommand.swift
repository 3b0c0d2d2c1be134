import ArgumentParser
import EventLoop
import FarmPolicy
import RedisClient
import StoreProtocol

struct ShardsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shards",
        abstract: "Lists the owners of shards, or moves a shard.",
        subcommands: [ShardsListCommand.self, ShardsMoveCommand.self],
        defaultSubcommand: ShardsListCommand.self)
}

struct ShardsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the owner of each shard.",
        discussion: """
            A pinned shard was moved by hand.

            Example:
              pushfarm shards
              pushfarm shards list --app demo --json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(help: ArgumentHelp("Only this app's.", valueName: "name"), completion: .apps)
    var app: String?

    func run() throws {
        let app = app
        let owners = try common.withClient { client in
            var all: [ShardOwners] = []
            for name in try await client.apps(meant: app) {
                all.append(try await ShardOwners.read(name, from: client))
            }
            return all
        }
        let console = Console(json: common.json)
        console.show(
            .object(["apps": .array(owners.map(\.json))]),
            owners.map { $0.text(console.style) }.joined(separator: "\n"))
    }
}

struct ShardsMoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Moves a shard to a host.",
        discussion: """
            The owner hands the shard over when none of its pushes is in flight. It stays
            with the new host, as long as that host lives, until it is moved again. auto
            lets the farm choose the owner.

            Example:
              pushfarm shards move 7 beta
              pushfarm shards move 7 auto --app demo
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(reads: "The shard.")
    var shard: Int

    @Argument(help: ArgumentHelp("The host, or auto.", valueName: "host"))
    var host: String

    @Option(
        help: ArgumentHelp("The app, or all; needed when there are several.", valueName: "name"),
        completion: .apps)
    var app: String?

    func validate() throws {
        guard !operation.local else {
            throw ValidationError("--local: whom a shard is to go to is kept in Redis")
        }
    }

    func run() throws {
        let (shard, host, app, operation) = (shard, host, app, operation)
        let console = Console(json: common.json)
        try common.withClient { client in
            let apps = app == "all" ? nil : [try await client.chosenApp(app)]
            let move = ShardMove(shard: shard, host: host == "auto" ? nil : host, apps: apps)
            let outcome = try await move.carryOut(client, operation, quiet: common.json)
            console.show(outcome.json, outcome.text + "\n")
            if !outcome.isDone { throw CommandFailure(status: .partly, message: "") }
        }
    }
}
