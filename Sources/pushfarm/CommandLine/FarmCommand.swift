import ArgumentParser
import EventLoop
import FarmConfiguration

/// A command that works on the farm's Redis.
protocol FarmCommand: ParsableCommand, Sendable {
    var common: CommonOptions { get }

    /// Checks the command line before a connection is made.
    func check() throws(CommandFailure)

    /// Does the command's work and shows the result.
    @Loop func run(_ client: FarmClient, _ console: Console) async throws
}

extension FarmCommand {
    func check() {}

    func run() throws {
        try check()
        try common.withClient { client in try await run(client, Console(json: common.json)) }
    }
}

extension CommonOptions {
    /// Runs the loop until `body` has ended, with a connection to the Redis that the options name.
    func withClient<Value: Sendable>(
        _ body: @escaping @Loop (FarmClient) async throws -> Value
    ) throws -> Value {
        try load().withClient(body)
    }
}

extension Configuration {
    /// Runs the loop until `body` has ended, with a connection to the farm's Redis.
    func withClient<Value: Sendable>(
        _ body: @escaping @Loop (FarmClient) async throws -> Value
    ) throws -> Value {
        try Loop.run { @Loop in
            let client = try await FarmClient.connect(self)
            defer { client.close() }
            return try await body(client)
        }
    }
}
