import EventLoop
import RESP
import Transport

@testable import RedisClient
@testable import StoreProtocol

/// A server that speaks the Redis protocol. The test chooses its replies, for faults that a real Redis does not show on demand.
@Loop final class FakeRedis {
    /// How the server replies to a command.
    enum Reply {
        case line(String)
        /// The server sends the reply and closes the connection directly after it.
        case last(String)
        case nothing
        /// The server closes the connection without a reply.
        case end
    }

    /// All received commands, each as a list of words. Commands of the log-in are not included.
    private(set) var commands: [[String]] = []
    private(set) var connections = 0
    /// Chooses the reply to a command that is not part of the log-in.
    var reply: (_ words: [String]) -> Reply = { _ in .line(":1") }
    /// Chooses the reply to a command of the log-in; nil for the usual reply.
    var logIn: (_ words: [String]) -> Reply? = { _ in nil }

    private var listener: Listener?
    private var streams: [(stream: ByteStream, reader: RESPReader)] = []

    func start() async throws {
        listener = try await Listener(.tcp(host: "127.0.0.1", port: 0), tls: nil) { [unowned self] stream in
            accept(stream)
        }
    }

    func stop() {
        listener?.close()
        for (stream, _) in streams { stream.close() }
        streams = []
        // A closure may refer to this object. If the object kept the closure, the object would never be freed.
        reply = { _ in .nothing }
        logIn = { _ in nil }
    }

    var settings: RedisSettings {
        let port = listener?.address.port ?? 0
        return RedisSettings(
            address: RedisAddress(endpoint: .tcp(host: "127.0.0.1", port: port)), clientName: "test")
    }

    /// Sends a line to all connections immediately, although no command asks for a reply.
    func say(_ line: String) {
        for (stream, _) in streams {
            Array((line + "\r\n").utf8).withUnsafeBytes { stream.write($0) }
            stream.sendNow()
        }
    }

    private func accept(_ stream: ByteStream) {
        connections += 1
        let reader = RESPReader()
        streams.append((stream, reader))
        stream.onBytes = { [unowned self, unowned stream] bytes in
            do {
                try reader.feed(bytes)
                while let value = try reader.next() {
                    perform((value.array ?? []).map { $0.text ?? "" }, stream)
                }
            } catch { stream.close() }
        }
    }

    private func perform(_ words: [String], _ stream: ByteStream) {
        let isLogIn = ["SCRIPT", "CLIENT", "INFO", "AUTH", "SELECT"].contains(words.first ?? "")
        if !isLogIn { commands.append(words) }
        let reply = isLogIn ? logIn(words) ?? Self.welcome(words) : self.reply(words)
        switch reply {
        case .line(let line), .last(let line):
            Array((line + "\r\n").utf8).withUnsafeBytes { stream.write($0) }
            if case .last = reply { stream.close() }
        case .nothing: break
        case .end: stream.close()
        }
    }

    static func welcome(_ words: [String]) -> Reply {
        switch words.first {
        case "SCRIPT": .line("$40\r\n" + String(repeating: "a", count: 40))
        case "INFO": .line("$10\r\nrun_id:abc")
        default: .line("+OK")
        }
    }
}
