import RESP
import Testing

import class FarmHarness.ScratchRedis

@testable import FarmStore

/// A redis-server of one test's own, with a blocking client that makes requests as the product does.
final class PrivateRedis {
    private let server: ScratchRedis
    private let client: BlockingClient
    private var hashes: [Script: [UInt8]] = [:]
    /// A fault put into a script on purpose.
    var mutant: Mutant?

    init(_ options: [String] = []) throws {
        server = try ScratchRedis(options)
        client = try BlockingClient(server.socket)
    }

    var address: RedisAddress { RedisAddress(endpoint: .unix(path: server.socket)) }

    /// Another client, such as one that blocks.
    func anotherClient() throws -> BlockingClient { try BlockingClient(server.socket) }

    @discardableResult
    func run(_ words: String...) throws -> RESPValue {
        var command = RESPCommand()
        for word in words { command.append(word) }
        return try client.run(command)
    }

    @discardableResult
    func run(_ command: RESPCommand) throws -> RESPValue { try client.run(command) }

    func perform<Step: Request>(_ request: Step, _ keys: Keys) throws -> Step.Reply {
        try Step.result(client.run(request.command(keys, hash: try Step.script.map(hash))))
    }

    func hash(_ script: Script) throws -> [UInt8] {
        if let hash = hashes[script] { return hash }
        let answer = try client.run(
            mutant?.loadCommand(of: script) ?? ScriptFolder.loadCommand(of: script) ?? script.loadCommand)
        let hash = try #require(answer.bytes, "\(script): \(answer)")
        hashes[script] = hash
        return hash
    }
}
