package import EventLoop
package import Transport

/// Answers GET and HEAD over HTTP/1.1, one request a connection: for scrapers and probes, not for the world.
///
/// A request has a bounded size and five seconds, an answer ten, and no more than sixteen connections are open at a time.
@Loop package final class PageServer {
    package typealias Handler = @Loop (_ path: String) -> Page?

    private let handler: Handler
    private var listener: Listener?
    private var clients: [ObjectIdentifier: Client] = [:]

    private static let mostClients = 16

    /// - Parameter handler: gives the page of a path; nil: there is none.
    package init(_ handler: @escaping Handler) { self.handler = handler }

    /// - Returns: where it listens.
    /// - Throws: when the address cannot be bound.
    package func listen(on endpoint: Endpoint) async throws(TransportError) -> SocketAddress {
        let listener = try await Listener(endpoint, tls: nil) { [weak self] stream in self?.take(stream) }
        self.listener = listener
        return listener.address
    }

    package func close() {
        listener?.close()
        listener = nil
        for client in clients.values { client.close() }
        clients = [:]
    }

    private func take(_ stream: ByteStream) {
        guard clients.count < Self.mostClients else { return stream.close() }
        let client = Client(stream, handler)
        clients[ObjectIdentifier(client)] = client
        client.onEnd = { [weak self] client in self?.clients[ObjectIdentifier(client)] = nil }
    }

    /// One connection.
    @Loop private final class Client {
        var onEnd: @Loop (Client) -> Void = { _ in }
        private let stream: ByteStream
        private let handler: Handler
        private var head: [UInt8] = []
        private var answer: [UInt8]?
        private var written = 0
        private lazy var limit = Timer { [unowned self] in finish() }

        init(_ stream: ByteStream, _ handler: @escaping Handler) {
            (self.stream, self.handler) = (stream, handler)
            stream.onBytes = { [unowned self] bytes in receive(bytes) }
            stream.onEnd = { [unowned self] _ in finish() }
            limit.start(after: .seconds(5))
        }

        func close() {
            limit.stop()
            stream.close()
        }

        private func receive(_ bytes: UnsafeRawBufferPointer) {
            guard answer == nil else { return }
            head.append(contentsOf: bytes)
            switch PageRequest.read(head) {
            case .incomplete: return
            case .bad(let status): send(Page(status, "this is no request for a page"), hasBody: true)
            case .whole(let request):
                guard request.method == "GET" || request.method == "HEAD" else {
                    return send(Page(405, "only GET and HEAD"), hasBody: true)
                }
                let page = handler(request.path) ?? Page(404, "no such page")
                send(page, hasBody: request.method == "GET")
            }
        }

        private func send(_ page: Page, hasBody: Bool) {
            answer = page.bytes(hasBody: hasBody)
            limit.start(after: .seconds(10))
            stream.source = { [unowned self] output in fill(&output) }
            stream.setNeedsFlush()
        }

        private func fill(_ output: inout OutputBuffer) {
            guard let answer else { return }
            let piece = answer[written..<min(written + (64 << 10), answer.count)]
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
