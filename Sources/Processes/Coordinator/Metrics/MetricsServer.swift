import EventLoop
import FarmConfiguration
import Logging
import Transport
import Web

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Shows the coordinator's numbers, and whether it lives and is ready, where the configuration says.
@Loop final class MetricsServer {
    private let place: MetricsPlace
    private let log: Logger
    private let server: PageServer
    private var opening: Task<Void, Never>?
    /// The socket that is ours: another coordinator may have put its own in the place.
    private var socket: (path: String, inode: UInt64)?

    /// - Parameters:
    ///   - metrics: all of the page.
    ///   - unready: why the coordinator is not ready; nil when it is.
    init(
        _ place: MetricsPlace, log: Logger, metrics: @escaping @Loop () -> String,
        unready: @escaping @Loop () -> String?
    ) {
        (self.place, self.log) = (place, log)
        server = PageServer(urgent: ["/healthz", "/readyz"]) { path in
            switch path {
            case "/metrics":
                return PageResponse(
                    type: "text/plain; version=0.0.4; charset=utf-8", body: Array(metrics().utf8))
            case "/healthz": return PageResponse(200, "alive")
            case "/readyz": return unready().map { PageResponse(503, $0) } ?? PageResponse(200, "ready")
            case "/": return PageResponse(200, "pushfarm: /metrics /healthz /readyz")
            default: return nil
            }
        }
    }

    /// The farm runs whether the port can be opened or not: opening is retried.
    func open() {
        opening = Loop.task { [self] in
            var hasComplained = false
            while !Task.isCancelled {
                do throws(TransportError) {
                    let address = try await server.listen(on: endpoint, mode: 0o660)
                    if case .unix(let path) = place { socket = Self.inode(path).map { (path, $0) } }
                    let name = if case .unix = place { "\(place)" } else { "\(address)" }
                    return log.notice("metrics", metadata: ["at": "\(name)"])
                } catch {
                    if !hasComplained {
                        log.error("cannot serve metrics", metadata: ["at": "\(place)", "error": "\(error)"])
                    }
                    hasComplained = true
                    guard (try? await Loop.sleep(for: .seconds(5))) != nil else { return }
                }
            }
        }
    }

    func close() {
        opening?.cancel()
        server.close()
        if let socket, Self.inode(socket.path) == socket.inode { unlink(socket.path) }
    }

    private static func inode(_ path: String) -> UInt64? {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    private var endpoint: Endpoint {
        switch place {
        case .tcp(let host, let port): return .tcp(host: host, port: port)
        case .unix(let path):
            removeStale(path)
            return .unix(path: path)
        }
    }

    /// The socket of a coordinator that was killed; one that lives would be this host's only one.
    private func removeStale(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        unlink(path)
    }
}

/// The coordinator's metrics server, if the configuration has a place for one.
@Loop final class MetricsEndpoint {
    private let context: HostContext
    private let status: HostReport
    private let metrics: HostMetrics
    private var server: MetricsServer?

    init(_ context: HostContext, _ status: HostReport, _ metrics: HostMetrics) {
        (self.context, self.status, self.metrics) = (context, status, metrics)
    }

    func open() {
        guard let place = context.configuration.metrics else { return }
        let server = MetricsServer(place, log: context.log) { [metrics] in
            metrics.text
        } unready: { [status] in
            status.whyUnready
        }
        self.server = server
        server.open()
    }

    func close() { server?.close() }
}
