package import EventLoop
import POSIX
package import Transport

/// A Unix socket that reads one command per line and replies to each command with one JSON object on one line.
@Loop final class ControlSocket {
    private static let longestLine = 4_096

    private let path: String
    private let reply: @Loop (String) -> String
    private var listener: Listener?
    private var clients: [ObjectIdentifier: ByteStream] = [:]

    init(_ path: String, reply: @escaping @Loop (String) -> String) async throws(SimulatorError) {
        self.path = path
        self.reply = reply
        unlink(path)  // Removes the socket file of an earlier run.
        do {
            listener = try await Listener(.unix(path: path), tls: nil, mode: 0o600) { [unowned self] in
                accept($0)
            }
        } catch {
            throw .system("\(path): \(error)")
        }
    }

    func close() {
        listener?.close()
        for client in clients.values { client.close() }
        clients.removeAll()
        unlink(path)
    }

    private func accept(_ client: ByteStream) {
        let key = ObjectIdentifier(client)
        clients[key] = client
        var line: [UInt8] = []
        client.onEnd = { [unowned self] _ in clients[key] = nil }
        client.onBytes = { [unowned self, unowned client] bytes in
            for byte in bytes {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    continue
                }
                var text = reply(String(decoding: line, as: UTF8.self)) + "\n"
                text.withUTF8 { client.write(UnsafeRawBufferPointer($0)) }
                line.removeAll(keepingCapacity: true)
            }
            if line.count > Self.longestLine {
                client.close()
                clients[key] = nil
            }
        }
    }
}

/// The client of the control socket, used by `pushfarm simulator control`.
@Loop package enum SimulatorControlClient {
    /// Sends one command and waits for the reply, a JSON object on one line.
    package static func send(
        _ command: String, socket path: String, timeout: Duration = .seconds(5)
    ) async throws(TransportError) -> String {
        let stream = try await Dial(.unix(path: path), timeout: timeout).connect()
        defer { stream.close() }
        let lineFeed = UInt8(ascii: "\n")
        let end = AsyncEvent()
        var reply: [UInt8] = []
        stream.onBytes = { bytes in
            reply.append(contentsOf: bytes)
            if reply.last == lineFeed { end.signal() }
        }
        stream.onEnd = { _ in end.signal() }
        var line = command.split(whereSeparator: \.isNewline).joined(separator: " ") + "\n"
        line.withUTF8 { stream.write(UnsafeRawBufferPointer($0)) }
        await end.wait(atMost: timeout)
        guard reply.last == lineFeed else { throw .timedOut(stage: "the simulator's reply") }
        return String(decoding: reply.dropLast(), as: UTF8.self)
    }
}
