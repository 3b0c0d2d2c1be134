import RESP
import RedisProtocol
import StoreProtocol

import class FarmHarness.UnixSocket

/// The smallest client there is: writes a command, waits for its answer, which may be an error.
final class BlockingClient {
    private let socket: UnixSocket
    private let reader = RESPReader()
    /// Milliseconds until an answer is given up: a script may never end.
    private let patience: Int32

    /// Tries until the server listens.
    init(_ path: String, patience: Int32 = 30_000) throws {
        socket = try UnixSocket.open(path)
        self.patience = patience
    }

    func send(_ command: RESPCommand) throws { try send([command]) }

    func send(_ commands: [RESPCommand]) throws {
        var bytes: [UInt8] = []
        for command in commands { command.write(into: &bytes) }
        try socket.send(bytes)
    }

    func receive() throws -> RESPValue {
        while true {
            if let value = try reader.next() { return value }
            guard hasAnswer(within: patience) else { throw RedisError.lost("no answer") }
            try reader.feed(socket.receive())
        }
    }

    /// Whether an answer arrives within this time.
    func hasAnswer(within milliseconds: Int32) -> Bool { socket.hasInput(within: milliseconds) }

    func run(_ command: RESPCommand) throws -> RESPValue {
        try send(command)
        return try receive()
    }
}
