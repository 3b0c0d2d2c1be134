import EventLoop
import LoopTesting
import OpenSSL
import Simulator
import Testing
import Transport

@testable import Web

/// Sends documents to a server whose responses the test chooses.
@Suite(.timeLimit(.minutes(2))) struct WebClientTests {
    /// A server that receives one request after another and sends `response` for each.
    @Loop private final class Server {
        private(set) var listener: Listener!
        private(set) var received: [String] = []
        private var streams: [ByteStream] = []

        init(_ response: String?, tls: TLSContext? = nil) async throws {
            listener = try await Listener(.tcp(host: "127.0.0.1", port: 0), tls: tls) {
                [unowned self] stream in
                streams.append(stream)
                let place = received.count
                received.append("")
                stream.onBytes = { [unowned self, unowned stream] bytes in
                    received[place] += String(decoding: bytes, as: UTF8.self)
                    guard received[place].hasSuffix("}"), let response else { return }
                    Array(response.utf8).withUnsafeBytes { stream.write($0) }
                    if !response.hasPrefix("HTTP") { stream.close() }
                }
            }
        }

        var port: UInt16 { listener.address.port }
    }

    @Loop private static func post(
        to port: UInt16, tls: TLSContext? = nil, timeout: Duration = .seconds(20)
    ) async -> String {
        do throws(WebClient.Failure) {
            try await WebClient.post(
                Array(#"{"a":1}"#.utf8), to: .tcp(host: "127.0.0.1", port: port), host: "127.0.0.1:\(port)",
                target: "/hook?x=1", tls: tls, timeout: timeout)
            return "taken"
        } catch { return "\(error)" }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n\r\n", "taken"), ("HTTP/1.1 204 No Content\r\n\r\n", "taken"),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n\r\n", "taken"),
        ("HTTP/1.1 302 Found\r\n\r\n", "responded with 302"),
        ("HTTP/1.1 500 No\r\n\r\n", "responded with 500"),
        (
            String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 9),
            "the connection ended without a response"
        ),
        (
            "HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 9_000),
            "the connection ended without a response"
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", "taken"),
        ("SSH-2.0-x\r\n\r\n", "the connection ended without a response"),
        ("", "the connection ended without a response"),
    ])
    func `any status from 200 to 299 is a success`(response: String, result: String)
        async throws
    {
        try await onLoop { () async throws -> Void in
            let server = try await Server(response)
            #expect(await Self.post(to: server.port) == result)
            #expect(
                server.received == [
                    "POST /hook?x=1 HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Type: application/json\r\n"
                        + "Content-Length: 7\r\nUser-Agent: pushfarm\r\nConnection: close\r\n\r\n{\"a\":1}"
                ])
        }
    }

    @Test func `a silent server times out`() async throws {
        try await onLoop { () async throws -> Void in
            let server = try await Server(nil)
            // Four seconds are enough to connect, even while a thousand tests share the event loop. So only the response is
            // late.
            #expect(await Self.post(to: server.port, timeout: .seconds(4)) == "no response in time")
            #expect(server.received.count == 1)
        }
    }

    @Test func `over TLS the server must prove its name`() async throws {
        try await onLoop { () async throws -> Void in
            let authority = try ThrowAwayAuthority()
            let server = try await Server(
                "HTTP/1.1 200 OK\r\n\r\n",
                tls: try TLSContext(
                    server: ServerSettings(identity: try authority.server(names: ["127.0.0.1"]))))
            let trusting = try TLSContext(
                client: ClientSettings(trust: .authorities(authority.certificatePEM)))
            #expect(await Self.post(to: server.port, tls: trusting) == "taken")
            let others = try TLSContext(
                client: ClientSettings(trust: .authorities(try ThrowAwayAuthority().certificatePEM)))
            #expect(await Self.post(to: server.port, tls: others).contains("certificate"))
            #expect(server.received.count == 1)
        }
    }
}
