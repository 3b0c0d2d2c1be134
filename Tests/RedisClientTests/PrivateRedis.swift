import RedisProtocol
import Testing

import class FarmHarness.BlockingRedisClient
import class FarmHarness.RedisServer

@testable import RedisClient
@testable import StoreProtocol

/// A redis-server of a single test, with a blocking client that sends the farm's requests.
final class PrivateRedis {
    private let server: RedisServer
    private let client: BlockingRedisClient
    private let timeout: Int32
    private var hashes: [Script: [UInt8]] = [:]
    /// The variant of the scripts that this client loads.
    var variant = ScriptVariant() {
        didSet { forgetScripts() }
    }

    /// - Parameter timeout: the time in milliseconds that clients wait for a reply.
    init(_ options: [String] = [], timeout: Int32 = 30_000) throws {
        server = try RedisServer(scratch: options)
        client = try BlockingRedisClient(server.socket, waitsForServer: true, timeout: timeout)
        self.timeout = timeout
    }

    var address: RedisAddress { RedisAddress(endpoint: .unix(path: server.socket)) }

    /// Returns another client, for example for a blocking command.
    func anotherClient() throws -> BlockingRedisClient {
        try BlockingRedisClient(server.socket, waitsForServer: true, timeout: timeout)
    }

    /// Whether Redis replies to PING: false while a script blocks Redis, or if the reply to an earlier command comes first.
    var isReachable: Bool { (try? run("PING"))?.text == "PONG" }

    @discardableResult
    func run(_ words: String...) throws -> RESPValue {
        var command = RESPCommand()
        for word in words { command.append(word) }
        return try client.reply(to: command)
    }

    @discardableResult
    func run(_ command: RESPCommand) throws -> RESPValue { try client.reply(to: command) }

    func perform<Step: Request>(_ request: Step, _ keys: Keys) throws -> Step.Reply {
        try Step.result(client.reply(to: command(request, keys)))
    }

    /// Performs a request with plain commands, as for a Redis user who may not run scripts.
    func performPlainly<Step: Request>(_ request: Step, _ keys: Keys) throws -> Step.Reply {
        try request.readPlain(run(together: request.plain(keys)), keys)
    }

    func command<Step: Request>(_ request: Step, _ keys: Keys) throws -> RESPCommand {
        request.command(keys, hash: try Step.script.map(hash))
    }

    /// Sends commands together, and returns their replies.
    func run(together commands: [RESPCommand]) throws -> [RESPValue] {
        try client.send(commands)
        return try commands.map { _ in try client.receive() }
    }

    /// Forgets which scripts are loaded, so that the client loads them again when it needs them.
    func forgetScripts() { hashes = [:] }

    func hash(_ script: Script) throws -> [UInt8] {
        if let hash = hashes[script] { return hash }
        let answer = try client.reply(to: variant.loadCommand(of: script))
        let hash = try #require(answer.bytes, "\(script): \(answer)")
        hashes[script] = hash
        return hash
    }
}
