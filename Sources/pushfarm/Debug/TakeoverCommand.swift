import ArgumentParser
import ControlChannel
import EventLoop
import FarmLogging
import FarmPolicy
import RedisClient
import StoreProtocol

struct TakeoverCommand: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "takeover",
        abstract: "Gives a shard of a host that hangs to another host.",
        discussion: """
            Unlike "pushfarm shards move", this command does not wait until the owner hands
            the shard over. After the takeover, Redis refuses the old owner's requests for
            the shard, and pushes that were in flight may be sent twice. Before the
            takeover, the command shows how many pushes these are. It then asks for the
            shard's number again; "--yes NUMBER" skips the question. The shard stays with
            the new host until you run "pushfarm shards move" with the host "auto".

            Example:
              pushfarm debug takeover 7 --app demo --host beta
              pushfarm debug takeover 7 --app demo --host beta --force --yes 7
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(reads: "The shard's number.")
    var shard: Int

    @Option(help: ArgumentHelp("The app.", valueName: "name"), completion: .apps)
    var app: String

    @Option(help: ArgumentHelp("The new owner of the shard.", valueName: "name"))
    var host: String

    @Flag(help: "Takes the shard even if the owner's lease is valid.")
    var force = false

    @Option(
        reads: ArgumentHelp(
            "Repeats the shard's number, so that the command does not ask for it.", valueName: "shard"))
    var yes: Int?

    func run() throws {
        if force, !operation.dryRun {
            if let yes, yes != shard {
                throw CommandFailure.usage("--yes \(yes) is not the number of the shard, \(shard)")
            }
            let suspects = try common.withClient { client in
                try await client.mustHave(app: app)
                try await client.mustHave(shard: shard)
                try await OperatorClient.requireLive(host, among: OperatorClient.liveHosts(client))
                return try await maybeSent(client)
            }
            try confirm(suspects)
        }
        try common.operate(.takeover, [app, "\(shard)"] + (force ? ["--force"] : []), on: host, operation)
    }

    /// The number of the shard's pushes that its worker may have sent and has not reported.
    @Loop private func maybeSent(_ client: FarmClient) async throws(CommandFailure) -> Int {
        let batches = try await client.call(ReadListEnd(.inFlight(shard: shard), count: 100_000), app)
        guard !batches.isEmpty else { return 0 }
        let ids = batches.map { String(decoding: $0, as: UTF8.self) }
        return try await client.call(ReadBatchStates(ids), app).reduce(0) { $0 + ($1?.maybeSent ?? 0) }
    }

    private func confirm(_ suspects: Int) throws(CommandFailure) {
        let warning = "shard \(shard) of \(app): \(suspects) pushes are in flight and may be sent twice"
        guard yes == nil else { return Console(json: common.json).note(warning) }
        guard Terminal.isTerminal(0) else {
            throw .usage("\(warning); confirm with --yes \(shard)")
        }
        Terminal.write("\(warning)\ntype the shard's number again: ", to: Terminal.standardError)
        guard readLine() == "\(shard)" else { throw .failed("nothing was changed") }
    }
}
