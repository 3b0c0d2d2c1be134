import ArgumentParser
import EventLoop

struct ShardsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shards",
        abstract: "Lists the owners of shards, or moves a shard.",
        subcommands: [ShardsListCommand.self, ShardsMoveCommand.self],
        defaultSubcommand: ShardsListCommand.self)
}

struct ShardsListCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the owner of each shard.",
        discussion: """
            A pinned shard is a shard that an operator moved to a host.

            Example:
              pushfarm shards
              pushfarm shards list --app demo --json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(help: ArgumentHelp("Only this app's shards.", valueName: "name"), completion: .apps)
    var app: String?

    func run(_ client: FarmClient, _ console: Console) async throws {
        var owners: [ShardOwners] = []
        for name in try await client.apps(selectedBy: app) {
            owners.append(try await ShardOwners.read(name, from: client))
        }
        console.show(
            .object(["apps": .array(owners.map(\.json))]),
            owners.map { $0.text(console.style) }.joined(separator: "\n"))
    }
}

struct ShardsMoveCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Moves a shard to a host.",
        discussion: """
            The present owner hands the shard over when no push of the shard is in flight.
            The shard then stays with the new host, as long as this host is alive, until an
            operator moves the shard again. With "auto" instead of a host, the farm chooses
            the owner again.

            Example:
              pushfarm shards move 7 beta
              pushfarm shards move 7 auto --app demo
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(reads: "The shard's number.")
    var shard: Int

    @Argument(help: ArgumentHelp("The host, or \"auto\" to let the farm choose.", valueName: "host"))
    var host: String

    @Option(
        help: ArgumentHelp(
            "The app, or \"all\" for all apps; needed if the farm has several apps.", valueName: "name"),
        completion: .apps)
    var app: String?

    func validate() throws {
        guard !operation.local else {
            throw ValidationError(
                "--local: this is not possible, because Redis must store the shard's new owner")
        }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let apps = app == "all" ? nil : [try await client.chosenApp(app)]
        let move = ShardMove(shard: shard, host: host == "auto" ? nil : host, apps: apps)
        let outcome = try await move.carryOut(client, operation)
        console.show(outcome.json, outcome.text + "\n")
        if !outcome.isDone { throw CommandFailure(status: .partly, message: "") }
    }
}
