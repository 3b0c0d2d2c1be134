import EventLoop
import Glibc
import Logging
import PushModel
import Supervision
import Transport

/// The coordinator's control socket: one command a connection, then its answers. Works while Redis is away.
///
/// A user that may open the socket, in the folder of mode 0700, is the operator.
@Loop final class ControlServer {
    private typealias Link = ControlLink<OperatorAnswer, OperatorCommand>

    private let path: String
    private let log: Logger
    private let take: @Loop (OperatorCommand, _ reply: @escaping @Loop (OperatorAnswer) async -> Void) -> Void
    private var listener: Listener?
    private var visitors: [ObjectIdentifier: Link] = [:]
    private var timers: [ObjectIdentifier: Timer] = [:]

    /// At the same time.
    private static let most = 32
    /// For the command to come, and for the visitor to go.
    private static let timeout = Duration.seconds(5)

    init(
        _ path: String, log: Logger,
        take:
            @escaping @Loop (OperatorCommand, _ reply: @escaping @Loop (OperatorAnswer) async -> Void) -> Void
    ) {
        (self.path, self.log, self.take) = (path, log, take)
    }

    /// A coordinator runs without a socket that cannot be opened.
    func open() async {
        unlink(path)  // What an earlier coordinator has left behind.
        do {
            listener = try await Listener(.unix(path: path), tls: nil, mode: 0o600) { [unowned self] in
                greet($0)
            }
        } catch {
            log.warning("cannot open the control socket", error: error, metadata: ["path": "\(path)"])
        }
    }

    /// Accepts no new clients; those that are connected stay for the answers, until ``close()``.
    /// - Parameter isKept: another coordinator has the path now.
    func shut(isKept: Bool = false) {
        guard let listener else { return }
        listener.close()
        self.listener = nil
        if !isKept { unlink(path) }
    }

    func close() {
        shut()
        for visitor in visitors.values { visitor.close() }
        for timer in timers.values { timer.stop() }
        (visitors, timers) = ([:], [:])
    }

    private func greet(_ stream: ByteStream) {
        guard visitors.count < Self.most else { return stream.close() }
        let link = Link(stream)
        let key = ObjectIdentifier(link)
        visitors[key] = link
        expect(key)
        link.onEnd = { [unowned self] _ in leave(key) }
        link.onMessage = { [unowned self] command in
            guard let timer = timers.removeValue(forKey: key) else { return }
            timer.stop()
            take(command) { [weak self] answer in
                guard let link = self?.visitors[key] else { return }
                link.send(answer)
                guard answer.isLast else { return }
                // At once, for the process may end; the visitor leaves when it has read it.
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
        visitors.removeValue(forKey: key)?.close()
    }
}
