import EventLoop
import FarmConfiguration
import Glibc
import Transport
import Web

/// Serves the coordinator's metrics, liveness and readiness, if the configuration sets an address for them.
@Loop final class MetricsServer {
    private unowned let context: HostContext
    private lazy var server = PageServer(urgent: ["/healthz", "/readyz"]) { [unowned self] in page($0) }
    private var opening: Task<Void, Never>?
    /// The socket file that this process has created. If the file at `path` has another inode, another coordinator has
    /// replaced the file, and this process must not remove it.
    private var socket: (path: String, inode: UInt64)?

    init(_ context: HostContext) { self.context = context }

    /// Opens the address. If this fails, the coordinator runs without the metrics page, and tries again every five
    /// seconds.
    func open() {
        guard let configured = context.configuration.metrics else { return }
        let log = context.log
        opening = Loop.task { [self] in
            var hasComplained = false
            while !Task.isCancelled {
                do throws(TransportError) {
                    let address = try await server.listen(on: endpoint(configured), mode: 0o660)
                    if case .unix(let path) = configured { socket = Self.inode(path).map { (path, $0) } }
                    let name = if case .unix = configured { "\(configured)" } else { "\(address)" }
                    return log.notice("metrics", metadata: ["at": "\(name)"])
                } catch {
                    if !hasComplained {
                        log.error("cannot serve metrics", error: error, metadata: ["at": "\(configured)"])
                    }
                    hasComplained = true
                    guard (try? await Loop.sleep(for: .seconds(5))) != nil else { return }
                }
            }
        }
    }

    func close() {
        guard let opening else { return }
        opening.cancel()
        server.close()
        if let socket, Self.inode(socket.path) == socket.inode { unlink(socket.path) }
    }

    private func page(_ path: String) -> PageResponse? {
        switch path {
        case "/metrics":
            let text = HostMetrics(context: context).text
            return PageResponse(type: "text/plain; version=0.0.4; charset=utf-8", body: Array(text.utf8))
        case "/healthz": return PageResponse(200, "alive")
        case "/readyz":
            return context.status.whyUnready.map { PageResponse(503, $0) } ?? PageResponse(200, "ready")
        case "/": return PageResponse(200, "pushfarm: /metrics /healthz /readyz")
        default: return nil
        }
    }

    private static func inode(_ path: String) -> UInt64? {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    private func endpoint(_ configured: MetricsAddress) -> Endpoint {
        switch configured {
        case .tcp(let host, let port): return .tcp(host: host, port: port)
        case .unix(let path):
            removeStale(path)
            return .unix(path: path)
        }
    }

    /// Removes the socket file of a killed coordinator. This is safe, because no other coordinator of this host is
    /// alive.
    private func removeStale(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        unlink(path)
    }
}
