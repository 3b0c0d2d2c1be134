import EventLoop
import LoopTesting
import OpenSSL
import Testing

@testable import Transport

/// Checks CONNECT through an HTTP proxy.
@Suite(.timeLimit(.minutes(5))) struct ProxyTests {
    /// A proxy that gives the same reply to every request, and then forwards bytes if it has a target.
    @Loop private final class Proxy {
        let listener: Listener
        let requests = Mailbox<String>()
        private static func serve(
            _ stream: ByteStream, response: String, to target: Endpoint?, _ requests: Mailbox<String>
        ) {
            let client = TestPeer(stream)
            var upstream: ByteStream?
            stream.onBytes = { bytes in
                if let upstream { return upstream.write(bytes) }
                requests.put(String(decoding: bytes, as: UTF8.self))
                guard let target else { return client.write(response) }
                Loop.task {
                    let other = try await Dial(target, timeout: .seconds(20)).connect()
                    upstream = other
                    other.onBytes = { client.stream.write($0) }
                    other.onEnd = { _ in client.stream.close() }
                    client.write(response)
                }
            }
            stream.onEnd = { _ in
                upstream?.close()
                requests.put("end")
            }
            // The closures above hold both streams, so the streams live until the client closes its stream.
        }

        init(response: String, to target: Endpoint? = nil) async throws {
            let requests = requests
            var streams: [ByteStream] = []
            listener = try await Listener(.tcp(host: "127.0.0.1", port: 0), tls: nil) { stream in
                streams.append(stream)
                Self.serve(stream, response: response, to: target, requests)
            }
        }

        var endpoint: Endpoint { .tcp(host: "127.0.0.1", port: listener.address.port) }
    }

    @Test(arguments: [Kind.plain, .tls]) func `a dial through a proxy names its target`(kind: Kind)
        async throws
    {
        try await onLoop { () async throws -> Void in
            let server = try await Server(kind)
            let proxy = try await Proxy(
                response: "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n", to: server.endpoint)
            var dial = server.dial
            dial.endpoint = .tcp(host: "gateway.invalid", port: 443)
            dial.proxy = proxy.endpoint
            let client = TestPeer(try await dial.connect())
            #expect(
                try await proxy.requests.next()
                    == "CONNECT gateway.invalid:443 HTTP/1.1\r\nHost: gateway.invalid:443\r\n\r\n")
            let accepted = try await server.accepted.next()
            client.write("hello")
            #expect(try await accepted.expect("hello"))
            accepted.write("good day")
            #expect(try await client.expect("good day"))
        }
    }

    @Test(arguments: [
        (
            "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
            "the proxy refused: HTTP/1.1 407 Proxy Authentication Required"
        ),
        ("HTTP/1.1 2000 Odd\r\n\r\n", "the proxy refused: HTTP/1.1 2000 Odd"),
        ("SSH-2.0-OpenSSH\r\n\r\n", "the proxy refused: SSH-2.0-OpenSSH"),
        ("\r\n\r\n", "the proxy refused: "),
        (String(repeating: "x", count: 9000), "the proxy refused: an endless response"),
        ("HTTP/1.1 200 Half", nil),
        ("", nil),
    ]) func `any other reply opens no tunnel and the wait is bounded`(
        response: String, error: String?
    ) async throws {
        try await onLoop { () async throws -> Void in
            let proxy = try await Proxy(response: response)
            let dial = Dial(
                .tcp(host: "gateway.invalid", port: 443), proxy: proxy.endpoint,
                timeout: error == nil ? .seconds(3) : .seconds(20))
            await #expect {
                _ = try await dial.connect()
            } throws: { "\($0)" == error ?? "timed out: proxy" }
            _ = try await proxy.requests.next()
            #expect(try await proxy.requests.next() == "end")
        }
    }

    @Test func `a proxy that closes has refused`() async throws {
        try await onLoop { () async throws -> Void in
            let server = try await Server()
            let talk = Loop.task {
                let party = try await server.accepted.next()
                _ = try await party.arrivals.next()
                party.stream.close()
            }
            let dial = Dial(
                .tcp(host: "gateway.invalid", port: 443), proxy: server.endpoint, timeout: .seconds(20))
            await #expect {
                _ = try await dial.connect()
            } throws: { "\($0)" == "the proxy refused: it closed the connection" }
            try await talk.value
        }
    }
}
