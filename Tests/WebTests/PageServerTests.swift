import EventLoop
import LoopTesting
import Testing
import Transport

@testable import Web

/// Clients that send requests, clients that stay idle, and clients that do not read.
@Suite(.timeLimit(.minutes(2))) struct PageServerTests {
    @Loop private final class Client {
        let stream: ByteStream
        private(set) var received: [UInt8] = []
        private(set) var hasEnded = false

        init(_ endpoint: Endpoint, reads: Bool = true) async throws {
            stream = try await Dial(endpoint, timeout: .seconds(20)).connect()
            stream.isReading = reads
            stream.onBytes = { [unowned self] in received.append(contentsOf: $0) }
            stream.onEnd = { [unowned self] _ in hasEnded = true }
        }

        func ask(_ path: String) {
            Array("GET \(path) HTTP/1.1\r\n\r\n".utf8).withUnsafeBytes { stream.write($0) }
        }

        /// Returns the status and the size of the body.
        func response() async -> (status: String, bytes: Int) {
            _ = await until { self.hasEnded }
            let text = String(decoding: received.prefix(200), as: UTF8.self)
            return (String(text.dropFirst(9).prefix(3)), received.count)
        }
    }

    /// A body that is larger than all sockets and buffers.
    private static let large = [UInt8](repeating: 0x78, count: 32 << 20)

    @Loop private static func server() async throws -> (PageServer, Endpoint) {
        // The timeout is long, so that on a slow machine no idle connection reaches it.
        let server = PageServer(urgent: ["/healthz"], requestTimeout: .seconds(100)) { path in
            path == "/metrics"
                ? PageResponse(body: large) : path == "/healthz" ? PageResponse(200, "alive") : nil
        }
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        return (server, .tcp(host: "127.0.0.1", port: address.port))
    }

    @Test func `idle connections are closed to make room and the oldest closes first`() async throws {
        try await onLoop { () async throws -> Void in
            let (server, endpoint) = try await Self.server()
            var idle: [Client] = []
            for _ in 0..<20 { idle.append(try await Client(endpoint)) }
            #expect(await until { idle.count(where: \.hasEnded) >= 4 })
            #expect(idle.map(\.hasEnded) == (0..<20).map { $0 < 4 })
            let scraper = try await Client(endpoint)
            scraper.ask("/metrics")
            let response = await scraper.response()
            #expect(response.status == "200" && response.bytes > Self.large.count)
            #expect(idle[4].hasEnded && !idle[5].hasEnded)
            // When the server closes, one connection has sent only the start of a request.
            Array("GET /metrics".utf8).withUnsafeBytes { idle[5].stream.write($0) }
            server.close()
        }
    }

    @Test func `probes get responses while clients that do not read use the other places`() async throws {
        try await onLoop { () async throws -> Void in
            let (server, endpoint) = try await Self.server()
            var slow: [Client] = []
            for _ in 0..<12 {
                slow.append(try await Client(endpoint, reads: false))
                slow.last?.ask("/metrics")
            }
            let probe = try await Client(endpoint)
            // The probe must come after the 12 earlier requests, so the test waits until the server responds to them.
            _ = await until { server.activeResponses == 12 }
            probe.ask("/healthz")
            #expect(await probe.response().status == "200")
            let late = try await Client(endpoint)
            late.ask("/metrics")
            #expect(await late.response().status == "503")
            server.close()
            withExtendedLifetime(slow) {}
        }
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nA: " + String(repeating: "x", count: 9_000), "431"),
        ("POST /metrics HTTP/1.1\r\n\r\n", "405"), ("GET /none HTTP/1.1\r\n\r\n", "404"),
        ("nonsense\n\n", "400"),
    ]) func `an invalid request for a page gets an error status`(request: String, status: String) async throws
    {
        try await onLoop { () async throws -> Void in
            let (server, endpoint) = try await Self.server()
            let client = try await Client(endpoint)
            Array(request.utf8).withUnsafeBytes { client.stream.write($0) }
            #expect(await client.response().status == status)
            server.close()
        }
    }
}
