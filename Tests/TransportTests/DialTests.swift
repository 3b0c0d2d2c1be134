import EventLoop
import Foundation
import LoopTesting
import OpenSSL
import Simulator
import Testing

@testable import Transport

/// Failed dials, and the time until each failure.
@Suite(.timeLimit(.minutes(5))) struct DialTests {
    /// Returns the result of a dial as text.
    @Loop private static func outcome(of dial: Dial) async -> String {
        do throws(TransportError) {
            let stream = try await dial.connect()
            defer { stream.close() }
            return "connected"
        } catch { return "\(error)" }
    }

    private static func client(_ trust: Trust = .authorities(Authority.pem)) throws -> TLSContext {
        try TLSContext(client: ClientSettings(trust: trust))
    }

    @Test func `an error names the address without a listener and the reason`() async throws {
        try await onLoop { () async throws -> Void in
            // The port stays reserved, so no other process listens on it.
            let taken = try RawSocket(port: 0, listens: false)
            let text = await Self.outcome(
                of: Dial(.tcp(host: "127.0.0.1", port: taken.port), timeout: .seconds(20)))
            #expect(text == "cannot connect: 127.0.0.1:\(taken.port): Connection refused")
        }
    }

    @Test(arguments: 0..<4) func `every address of a host is tried in any order`(first: Int)
        async throws
    {
        try await onLoop { () async throws -> Void in
            let server = try await Server()
            var dial = server.dial
            // The server listens on only one of the addresses of localhost.
            dial.endpoint = .tcp(host: "localhost", port: server.listener.address.port)
            dial.firstAddress = first
            #expect(await Self.outcome(of: dial) == "connected")
        }
    }

    @Test func `an unknown name is an error`() async throws {
        let text = try await onLoop {
            await Self.outcome(of: Dial(.tcp(host: "nobody.invalid", port: 1), timeout: .seconds(40)))
        }
        #expect(text.hasPrefix("cannot resolve nobody.invalid: "))
    }

    @Test func `a missing path and a too long path are errors`() async throws {
        try await onLoop { () async throws -> Void in
            let text = await Self.outcome(of: Dial(.unix(path: temporaryPath()), timeout: .seconds(20)))
            #expect(text.contains("No such file"))
            let long = "/tmp/" + String(repeating: "x", count: 200)
            #expect(
                await Self.outcome(of: Dial(.unix(path: long), timeout: .seconds(20)))
                    == "the socket path is too long: \(long)")
        }
    }

    @Test func `a path whose listener accepts no client is no connection`() async throws {
        try await onLoop { () async throws -> Void in
            let path = temporaryPath()
            let listening = try Socket.open(SocketAddress(path: path)!.family)
            #expect(SocketAddress(path: path)!.bind(listening) == 0 && listen(listening, 0) == 0)
            var streams: [ByteStream] = []
            var refusals: [String] = []
            for _ in 0..<3 {
                do throws(TransportError) {
                    streams.append(try await Dial(.unix(path: path), timeout: .seconds(3)).connect())
                } catch { refusals.append("\(error)") }
            }
            #expect(
                streams.count < 3 && refusals.allSatisfy { $0.hasPrefix("cannot connect: ") }, "\(refusals)")
            close(listening)
        }
    }

    @Test func `a dial to a silent host times out`() async throws {
        try await onLoop { () async throws -> Void in
            let silent = try RawSocket(port: 0)
            let dial = Dial(.tcp(host: "127.0.0.1", port: silent.port), timeout: .seconds(3))
            var streams: [ByteStream] = []
            var text = ""
            // The system accepts the first connections into the listener's backlog, so only a later dial times out.
            for _ in 0..<5 where text.isEmpty {
                do throws(TransportError) { streams.append(try await dial.connect()) } catch {
                    text = "\(error)"
                }
            }
            #expect(text.contains("timed out") || text.contains("no time left"))
        }
    }

    @Test func `a handshake without a reply times out and the peer is closed`() async throws {
        try await onLoop { () async throws -> Void in
            let server = try await Server(.plain)
            var dial = server.dial
            dial.tls = try Self.client()
            dial.timeout = .seconds(3)
            #expect(await Self.outcome(of: dial) == "timed out: TLS handshake")
            #expect(try await server.accepted.next().ends.next() == "closed by the peer")
        }
    }

    @Test func `a certificate for another name is refused and the peer is closed`() async throws {
        try await onLoop { () async throws -> Void in
            let server = try await Server(.tls)
            var dial = server.dial
            dial.serverName = "push.example.com"
            #expect(await Self.outcome(of: dial).hasPrefix("TLS: the peer's certificate is not trusted"))
            #expect(await until { server.listener.failedHandshakes + server.accepted.all.count == 1 })
        }
    }

    @Test func `an untrusted authority is refused`() async throws {
        try await onLoop { () async throws -> Void in
            let server = try await Server(.tls)
            var dial = server.dial
            dial.tls = try Self.client(.authorities(try ThrowAwayAuthority().certificatePEM))
            #expect(await Self.outcome(of: dial).hasPrefix("TLS: the peer's certificate is not trusted"))
        }
    }

    @Test func `the endpoint's own host is checked unless another name is given`() async throws {
        try await onLoop { () async throws -> Void in
            let server = try await Server(.tls)
            var dial = server.dial
            dial.serverName = nil
            #expect(await Self.outcome(of: dial) == "connected")
        }
    }

    @Test func `a peer that closes in the handshake or does not speak TLS is an error`() async throws {
        try await onLoop { () async throws -> Void in
            for response in ["", "HTTP/1.1 400 Bad Request\r\n\r\n"] {
                let server = try await Server(.plain)
                var dial = server.dial
                dial.tls = try Self.client()
                let talk = Loop.task {
                    let party = try await server.accepted.next()
                    _ = try await party.arrivals.next()
                    party.write(response)
                    party.stream.close()
                }
                #expect(await Self.outcome(of: dial).hasPrefix("TLS: "))
                try await talk.value
            }
        }
    }
}
