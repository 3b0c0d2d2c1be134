import EventLoop
import LoopTesting
import OpenSSL
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(5))) struct ListenerTests {
    @Test func `a listener drops a client that does not finish its handshake and serves others`() async throws
    {
        try await onLoop { () async throws -> Void in
            // A correct client has enough time for its handshake, even if a thousand tests share the loop.
            let server = try await Server(.tls, handshakeTimeout: .seconds(8))
            let slow = TestPeer(try await Dial(server.endpoint, timeout: .seconds(20)).connect())
            let (client, accepted) = try await server.connect()
            _ = try await slow.ends.next()
            #expect(server.listener.failedHandshakes == 1)
            client.write("still here")
            #expect(try await accepted.expect("still here"))
        }
    }

    @Test func `a listener drops a client that does not speak TLS`() async throws {
        try await onLoop { () async throws -> Void in
            let server = try await Server(.tls)
            let client = TestPeer(try await Dial(server.endpoint, timeout: .seconds(20)).connect())
            client.write("GET / HTTP/1.1\r\n\r\n")
            _ = try await client.ends.next()
            #expect(server.listener.failedHandshakes == 1 && server.accepted.all.isEmpty)
        }
    }

    @Test(arguments: [Kind.plain, .tls]) func `a listener accepts many clients at once`(kind: Kind)
        async throws
    {
        try await onLoop { () async throws -> Void in
            let server = try await Server(kind)
            let dials = (0..<40).map { _ in Loop.task { TestPeer(try await server.dial.connect()) } }
            var clients: [TestPeer] = []
            for dial in dials { clients.append(try await dial.value) }
            try await server.accepted.wait(until: 40)
            for (number, client) in clients.enumerated() { client.write("\(number + 10)") }
            for party in server.accepted.all { try await party.wait(for: 2) }
            #expect(Set(server.accepted.all.map(\.text)) == Set((10..<50).map { "\($0)" }))
        }
    }

    @Test func `a closed listener accepts no further client`() async throws {
        try await onLoop { () async throws -> Void in
            let server = try await Server(.tls)
            // Forwards bytes to the server after the test opens the gate.
            let links = Mailbox<(client: ByteStream, upstream: ByteStream)>()
            let relay = try await Listener(.tcp(host: "127.0.0.1", port: 0), tls: nil) { client in
                client.isReading = false
                Loop.task {
                    let upstream = try await Dial(server.endpoint, timeout: .seconds(20)).connect()
                    upstream.onBytes = { client.write($0) }
                    upstream.onEnd = { _ in client.close() }
                    client.onBytes = { upstream.write($0) }
                    links.put((client, upstream))
                }
            }
            var dial = server.dial
            dial.endpoint = .tcp(host: "127.0.0.1", port: relay.address.port)
            let through = dial
            let dialling = Loop.task { try await through.connect() }
            let link = try await links.next()
            #expect(await until { server.listener.handshakes == 1 })
            server.listener.close()
            link.client.isReading = true
            let client = TestPeer(try await dialling.value)
            _ = try await client.ends.next()
            #expect(server.accepted.all.isEmpty && server.listener.failedHandshakes == 0)
        }
    }

    @Test func `an error names the address that is in use`() async throws {
        try await onLoop { () async throws -> Void in
            let server = try await Server()
            let port = server.listener.address.port
            await #expect {
                _ = try await Listener(.tcp(host: "127.0.0.1", port: port), tls: nil) { _ in }
            } throws: { "\($0)".contains("cannot listen on 127.0.0.1:\(port): Address already in use") }
        }
    }
}
