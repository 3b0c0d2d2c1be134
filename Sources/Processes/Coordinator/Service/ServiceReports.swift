import EventLoop
import Logging
import Supervision

/// If a service manager has started the coordinator, reports to it: the coordinator's state, a status line for people,
/// and watchdog notifications.
///
/// The event loop checks the children before it sends a report. If the coordinator hangs or is suspended, the reports
/// stop, so the service manager notices.
@Loop final class ServiceReports {
    /// How much more time the coordinator requests from the service manager with each report during a long start or
    /// stop.
    private static let more = Duration.seconds(30)

    private let socket: ServiceSocket?
    private let interval: Duration
    private let hasWatchdog: Bool
    private let status: @Loop (ServiceStatus.Phase) -> ServiceStatus
    private(set) var phase = ServiceStatus.Phase.starting
    private var lastText = ""
    private lazy var timer = Timer { [unowned self] in sendStatus() }

    /// - Parameter status: checks the children, and returns the status that the service manager shows.
    init(
        _ environment: ServiceEnvironment?, log: Logger,
        status: @escaping @Loop (ServiceStatus.Phase) -> ServiceStatus
    ) {
        self.status = status
        interval = environment?.interval ?? .zero
        hasWatchdog = environment?.watchdog != nil
        var socket: ServiceSocket?
        if let environment {
            do throws(LoopError) {
                socket = try ServiceSocket(environment.socket)
                if socket == nil { log.warning("NOTIFY_SOCKET does not name a socket") }
            } catch {
                log.warning("cannot notify the service manager", error: error)
            }
        }
        self.socket = socket
    }

    /// Begins to report. Call this function before the coordinator waits for Redis: this wait may take hours, and the
    /// service manager must know that the coordinator runs.
    func begin() {
        guard socket != nil else { return }
        sendStatus()
        timer.start(after: interval, every: interval)
    }

    func ready() { enter(.running, .ready) }

    func reloading() {
        guard phase == .running else { return }
        enter(.reloading, .reloading(monotonicMicroseconds: ServiceSocket.monotonicMicroseconds))
    }

    func reloaded() {
        guard phase == .reloading else { return }
        enter(.running, .ready)
    }

    func stopping() { enter(.stopping, .stopping) }

    /// Reports that the process `pid`, the successor, is now the main process of the service, and sends no further
    /// reports.
    func handedOver(to pid: Int32) {
        timer.stop()
        socket?.announce(.mainProcess(pid))
    }

    private func enter(_ phase: ServiceStatus.Phase, _ message: ServiceMessage) {
        self.phase = phase
        guard let socket else { return }
        lastText = status(phase).text
        socket.announce(message, .status(lastText))
    }

    private func sendStatus() {
        let text = status(phase).text
        if text != lastText { socket?.send(.status(text)) }
        lastText = text
        if phase == .starting || phase == .stopping { socket?.send(.extendTimeout(Self.more)) }
        if hasWatchdog { socket?.send(.watchdog) }
    }
}

/// The coordinator's status in one line, for `systemctl status`.
struct ServiceStatus: Equatable {
    enum Phase: Equatable { case starting, running, reloading, stopping }

    var phase = Phase.starting
    var isRedisThere = false
    var hosts = 0
    var readyWorkers = 0
    var workers = 0
    /// The number of this host's pushes that were settled in the last second.
    var rate: UInt64 = 0
    /// The number of the farm's open pushes when Redis was last read.
    var open = 0
    var paused: [String] = []
    /// Why the configuration file was refused; nil if it was accepted.
    var refusal: String?

    var text: String {
        var parts: [String] = []
        switch phase {
        case .starting: return isRedisThere ? "starting" : "starting: waits for Redis"
        case .running: break
        case .reloading: parts.append("reloading")
        case .stopping: parts.append("stopping")
        }
        if !isRedisThere { parts.append("Redis is away") }
        parts.append(hosts == 1 ? "1 host" : "\(hosts) hosts")
        parts.append("\(readyWorkers) of \(workers) workers ready")
        if phase != .stopping {
            parts.append("\(rate) pushes/s")
            parts.append("\(open) open")
        }
        if !paused.isEmpty { parts.append("paused: " + Self.list(paused)) }
        if let refusal { parts.append("configuration refused: \(refusal)") }
        return parts.joined(separator: ", ")
    }

    private static let mostNames = 5

    private static func list(_ names: [String]) -> String {
        let sorted = names.sorted()
        let more = sorted.count - mostNames
        return sorted.prefix(mostNames).joined(separator: " ") + (more > 0 ? " and \(more) more" : "")
    }
}
