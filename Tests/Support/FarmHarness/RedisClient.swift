import RESP
package import RedisProtocol

/// A raw client, as a producer in any language has one.
package final class RedisClient {
    private let socket: UnixSocket
    private let reader = RESPReader()

    package init(_ path: String) throws { socket = try UnixSocket(path) }

    @discardableResult
    package func run(_ words: String...) throws -> RESPValue { try run(words) }

    @discardableResult
    package func run(_ words: [String]) throws -> RESPValue {
        try send([words])
        return try answer()
    }

    @discardableResult
    package func run(_ command: RESPCommand) throws -> RESPValue {
        var bytes: [UInt8] = []
        command.write(into: &bytes)
        try socket.send(bytes)
        return try answer()
    }

    /// Sends many commands at once, and reads all answers.
    @discardableResult
    package func pipeline(_ commands: [[String]]) throws -> [RESPValue] {
        try send(commands)
        return try commands.map { _ in try answer() }
    }

    /// Sends bytes that hold so many commands, and reads their answers.
    package func send(prepared bytes: [UInt8], answers: Int) throws {
        try socket.send(bytes)
        for _ in 0..<answers { _ = try answer() }
    }

    private func send(_ commands: [[String]]) throws {
        var bytes: [UInt8] = []
        for words in commands {
            var command = RESPCommand()
            for word in words { command.append(word) }
            command.write(into: &bytes)
        }
        try socket.send(bytes)
    }

    private func answer() throws -> RESPValue {
        while true {
            if let value = try reader.next() {
                if let error = value.error { throw error }
                return value
            }
            try reader.feed(socket.receive())
        }
    }
}

extension RESPValue {
    /// Entries of a stream, as fields by name.
    package var entries: [[String: String]] {
        (array ?? []).compactMap { $0.array?.last?.fields }
    }
}
