import EventLoop
import Glibc
import Logging
import PushModel
import Supervision
import Transport

/// The coordinator's control socket: each connection carries one command and its replies. The socket works during
/// a Redis outage.
///
/// The socket is in a folder with mode 0700. There is no further check: every user who can open the socket may send all
/// commands.
@Loop final class ControlServer {
    private typealias Link = ControlLink<OperatorReply, OperatorCommand>

    private let path: String
    private let log: Logger
    private let take: @Loop (OperatorCommand, _ reply: @escaping @Loop (OperatorReply) async -> Void) -> Void
    private var listener: Listener?
    private var clients: [ObjectIdentifier: Link] = [:]
    private var timers: [ObjectIdentifier: Timer] = [:]

    /// The maximum number of simultaneous connections.
    private static let most = 32
    /// How long the server waits for a client's command, and, after the last reply, for the client to close the
    /// connection.
    private static let timeout = Duration.seconds(5)

    init(
        _ path: String, log: Logger,
        take:
            @escaping @Loop (OperatorCommand, _ reply: @escaping @Loop (OperatorReply) async -> Void) -> Void
    ) {
        (self.path, self.log, self.take) = (path, log, take)
    }

    /// Opens the socket. If the socket cannot be opened, the coordinator runs without it.
    func open() async {
        unlink(path)  // Remove the socket of an earlier coordinator.
        do {
            listener = try await Listener(.unix(path: path), tls: nil, mode: 0o600) { [unowned self] in
                greet($0)
            }
        } catch {
            log.warning("cannot open the control socket", error: error, metadata: ["path": "\(path)"])
        }
    }

    /// Accepts no new clients. Clients that are already connected still get their replies, until ``close()``.
    /// - Parameter isKept: whether the socket file must stay, because another coordinator already uses it.
    func shut(isKept: Bool = false) {
        guard let listener else { return }
        listener.close()
        self.listener = nil
        if !isKept { unlink(path) }
    }

    func close() {
        shut()
        for visitor in clients.values { visitor.close() }
        for timer in timers.values { timer.stop() }
        (clients, timers) = ([:], [:])
    }

    private func greet(_ stream: ByteStream) {
        guard clients.count < Self.most else { return stream.close() }
        let link = Link(stream)
        let key = ObjectIdentifier(link)
        clients[key] = link
        expect(key)
        link.onEnd = { [unowned self] _ in leave(key) }
        link.onMessage = { [unowned self] command in
            guard let timer = timers.removeValue(forKey: key) else { return }
            timer.stop()
            take(command) { [weak self] reply in
                guard let link = self?.clients[key] else { return }
                link.send(reply)
                guard reply.isLast else { return }
                // Send the reply at once, because the process may exit. The client disconnects after it has read the
                // reply.
                link.sendNow()
                self?.expect(key)
            }
        }
    }

    private func expect(_ key: ObjectIdentifier) {
        let timer = Timer { [unowned self] in leave(key) }
        timer.start(after: Self.timeout)
        timers[key] = timer
    }

    private func leave(_ key: ObjectIdentifier) {
        timers.removeValue(forKey: key)?.stop()
        clients.removeValue(forKey: key)?.close()
    }
}
