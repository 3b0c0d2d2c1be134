package import EventLoop
package import Transport

/// Serves GET and HEAD over HTTP/1.1, one request per connection. The server is for scrapers and probes, not for the public.
///
/// A request has a bounded size and a timeout; a response has a timeout of 10 s. At most sixteen connections are open. When
/// sixteen connections are open, a new connection replaces the oldest connection that has not sent its request; if all
/// connections have sent their requests, the server closes the new connection. Four connections are reserved for urgent paths, so
/// that probes always get a response.
@Loop package final class PageServer {
    package typealias Handler = @Loop (_ path: String) -> PageResponse?

    private let urgent: Set<String>
    private let requestTimeout: Duration
    private let handler: Handler
    private var listener: Listener?
    /// The open connections, oldest first.
    private var clients: [Client] = []

    private static let mostClients = 16
    /// If this number of responses are being sent, a request for a path that is not urgent gets status 503.
    private static let mostResponses = 12

    /// - Parameters:
    ///   - urgent: the paths of probes.
    ///   - requestTimeout: a connection without a whole request is closed after this time.
    ///   - handler: returns the page of a path; nil if there is no such page.
    package init(
        urgent: Set<String> = [], requestTimeout: Duration = .seconds(5), _ handler: @escaping Handler
    ) {
        (self.urgent, self.requestTimeout, self.handler) = (urgent, requestTimeout, handler)
    }

    /// - Parameter mode: the permissions of a Unix socket's file.
    /// - Returns: the address on which the server listens.
    /// - Throws: when the address cannot be bound.
    package func listen(
        on endpoint: Endpoint, mode: UInt32 = 0o600
    ) async throws(TransportError) -> SocketAddress {
        let listener = try await Listener(endpoint, tls: nil, mode: mode) { [weak self] stream in
            self?.serve(stream)
        }
        self.listener = listener
        return listener.address
    }

    package func close() {
        listener?.close()
        listener = nil
        for client in clients { client.close() }
        clients = []
    }

    private func serve(_ stream: ByteStream) {
        if clients.count >= Self.mostClients {
            guard let idle = clients.firstIndex(where: \.isIdle) else { return stream.close() }
            clients.remove(at: idle).close()
        }
        let client = Client(stream, requestTimeout: requestTimeout) { [weak self] path in self?.page(path) }
        clients.append(client)
        client.onEnd = { [weak self] client in self?.clients.removeAll { $0 === client } }
    }

    var activeResponses: Int { clients.count { !$0.isIdle } }

    private func page(_ path: String) -> PageResponse? {
        guard urgent.contains(path) || activeResponses < Self.mostResponses else {
            return PageResponse(503, "too many responses are being sent")
        }
        return handler(path)
    }

    @Loop private final class Client {
        var onEnd: @Loop (Client) -> Void = { _ in }
        private let stream: ByteStream
        private let handler: Handler
        private var head: [UInt8] = []
        private var scanner = HeadScanner()
        private var response: [UInt8]?
        private var written = 0
        private lazy var limit = Timer { [unowned self] in finish() }

        init(_ stream: ByteStream, requestTimeout: Duration, _ handler: @escaping Handler) {
            (self.stream, self.handler) = (stream, handler)
            stream.onBytes = { [unowned self] bytes in receive(bytes) }
            stream.onEnd = { [unowned self] _ in finish() }
            limit.start(after: requestTimeout)
        }

        /// True until a whole request has arrived on the connection.
        var isIdle: Bool { response == nil }

        func close() {
            limit.stop()
            stream.close()
        }

        private func receive(_ bytes: UnsafeRawBufferPointer) {
            guard response == nil else { return }
            for byte in bytes {
                head.append(byte)
                if scanner.ends(with: byte) || head.count > PageRequest.longestHead { return respond() }
            }
        }

        private func respond() {
            switch PageRequest.read(head) {
            case .incomplete: return
            case .bad(let status): send(PageResponse(status, "this is no request for a page"), hasBody: true)
            case .whole(let request):
                guard request.method == "GET" || request.method == "HEAD" else {
                    return send(PageResponse(405, "only GET and HEAD"), hasBody: true)
                }
                let page = handler(request.path) ?? PageResponse(404, "no such page")
                send(page, hasBody: request.method == "GET")
            }
        }

        private func send(_ page: PageResponse, hasBody: Bool) {
            response = page.bytes(hasBody: hasBody)
            limit.start(after: .seconds(10))
            stream.source = { [unowned self] output in fill(&output) }
            stream.setNeedsFlush()
        }

        private func fill(_ output: inout OutputBuffer) {
            guard let response else { return }
            let piece = response[written..<min(written + (64 << 10), response.count)]
            guard !piece.isEmpty else { return limit.start(after: .zero) }
            piece.withUnsafeBytes { output.append($0) }
            written += piece.count
        }

        private func finish() {
            close()
            onEnd(self)
        }
    }
}
