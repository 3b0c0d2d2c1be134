import ArgumentParser
import EventLoop

/// A command that works on the farm's Redis.
protocol FarmCommand: ParsableCommand, Sendable {
    var common: CommonOptions { get }

    /// Does the command's work and shows the result.
    @Loop func run(_ client: FarmClient, _ console: Console) async throws
}

extension FarmCommand {
    func run() throws {
        try common.withClient { client in try await run(client, Console(json: common.json)) }
    }
}
