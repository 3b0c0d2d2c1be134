import RESP
package import RedisProtocol

/// A blocking Redis connection that knows nothing about the farm, like the connection of a producer in any language.
package final class BlockingRedisClient {
    package struct NoReply: Error {}

    private let socket: UnixSocket
    private let reader = RESPReader()
    /// How long to wait for each reply, in milliseconds. Without a limit, a script that never ends would block the test.
    private let timeout: Int32

    /// - Parameters:
    ///   - waitsForServer: whether to wait until the server accepts connections, because it was just started.
    ///   - timeout: milliseconds to wait for each reply.
    package init(_ path: String, waitsForServer: Bool = false, timeout: Int32 = 30_000) throws {
        socket = try waitsForServer ? UnixSocket.open(path) : UnixSocket(path)
        self.timeout = timeout
    }

    // MARK: Commands that throw error replies

    @discardableResult
    package func run(_ words: String...) throws -> RESPValue { try run(words) }

    @discardableResult
    package func run(_ words: [String]) throws -> RESPValue { try run(Self.command(words)) }

    @discardableResult
    package func run(_ command: RESPCommand) throws -> RESPValue {
        try send(command)
        return try successfulReply()
    }

    /// Sends many commands at once, and reads all replies.
    @discardableResult
    package func pipeline(_ commands: [[String]]) throws -> [RESPValue] {
        try send(commands.map(Self.command))
        return try commands.map { _ in try successfulReply() }
    }

    /// Sends commands that are already encoded, and reads as many replies as `replies` says.
    package func send(prepared bytes: [UInt8], replies: Int) throws {
        try socket.send(bytes)
        for _ in 0..<replies { _ = try successfulReply() }
    }

    private func successfulReply() throws -> RESPValue {
        let value = try receive()
        if let error = value.error { throw error }
        return value
    }

    private static func command(_ words: [String]) -> RESPCommand {
        var command = RESPCommand()
        for word in words { command.append(word) }
        return command
    }

    // MARK: Single steps that return error replies as values

    package func send(_ command: RESPCommand) throws { try send([command]) }

    package func send(_ commands: [RESPCommand]) throws {
        var bytes: [UInt8] = []
        for command in commands { command.write(into: &bytes) }
        try socket.send(bytes)
    }

    package func receive() throws -> RESPValue {
        while true {
            if let value = try reader.next() { return value }
            guard hasReply(within: timeout) else { throw NoReply() }
            try reader.feed(socket.receive())
        }
    }

    /// Whether a reply arrives within this number of milliseconds.
    package func hasReply(within milliseconds: Int32) -> Bool { socket.hasInput(within: milliseconds) }

    package func reply(to command: RESPCommand) throws -> RESPValue {
        try send(command)
        return try receive()
    }
}

extension RESPValue {
    /// The entries of a stream reply, each as a dictionary of its fields.
    package var entries: [[String: String]] {
        (array ?? []).compactMap { $0.array?.last?.fields }
    }
}
