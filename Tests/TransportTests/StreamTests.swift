import EventLoop
import LoopTesting
import Testing

@testable import Transport

/// Sends bytes over every kind of stream.
@Suite(.timeLimit(.minutes(5))) struct StreamTests {
    @Test(arguments: Kind.allCases)
    func `bytes and the end that arrive before a listener exists are delivered`(
        kind: Kind
    )
        async throws
    {
        try await onLoop { () async throws -> Void in
            let server = try await Server(kind)
            let stream = try await server.dial.connect()
            let peer = try await server.accepted.next()
            peer.write("early")
            peer.stream.close()
            // The loop runs while the first stream has no callbacks yet. If the stream read its bytes now, the bytes would be
            // lost.
            let (other, hearer) = try await server.connect()
            other.write("later")
            #expect(try await hearer.expect("later"))
            let client = TestPeer(stream)
            _ = try await client.ends.next()
            #expect(client.text == "early")
        }
    }

    @Test(arguments: Kind.allCases) func `bytes flow in both directions`(kind: Kind) async throws {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server(kind).connect()
            client.write("ping ")
            client.write("ping")
            #expect(try await server.expect("ping ping"))
            server.write("pong")
            #expect(try await client.expect("pong"))
            client.stream.close()
            #expect(try await server.ends.next() == "closed by the peer")
        }
    }

    @Test(arguments: Kind.allCases) func `a side that ended its output still receives all input`(
        kind: Kind
    )
        async throws
    {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server(kind).connect()
            // A stream ends when it reads the end of its peer's output, so the client must not read yet.
            client.stream.isReading = false
            server.write("the last words")
            server.stream.endOutput()
            server.write("nothing more")
            let size = 1 << 20
            _ = client.pour(size)
            try await server.wait(for: size)
            #expect(ByteSource.isIntact(server.received))
            client.stream.isReading = true
            _ = try await client.ends.next()
            #expect(client.text == "the last words")
            _ = try await server.ends.next()
        }
    }

    @Test(arguments: Kind.allCases) func `large transfers arrive completely in both directions at once`(
        kind: Kind
    )
        async throws
    {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server(kind).connect()
            let size = 3 << 20
            _ = (client.pour(size), server.pour(size))
            try await client.wait(for: size)
            try await server.wait(for: size)
            #expect(ByteSource.isIntact(client.received) && ByteSource.isIntact(server.received))
            #expect(client.stream.queuedBytes == 0 && server.stream.queuedBytes == 0)
        }
    }

    @Test(arguments: Kind.allCases)
    func `a peer that does not read stops the source and memory stays bounded`(
        kind: Kind
    ) async throws {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server(kind).connect()
            server.stream.isReading = false
            let size = 32 << 20
            let fountain = client.pour(size)
            var last = 0
            // Waits until the socket is full, so that some turns request no bytes from the source.
            #expect(
                await until {
                    defer { last = fountain.produced }
                    return fountain.produced > 0 && fountain.produced == last
                })
            #expect(fountain.produced < size)
            #expect(client.stream.queuedBytes <= ByteSource.chunk)
            server.stream.isReading = true
            try await server.wait(for: size)
            #expect(ByteSource.isIntact(server.received))
        }
    }

    @Test(arguments: Kind.allCases) func `a reader that pauses and resumes misses nothing`(kind: Kind)
        async throws
    {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server(kind).connect()
            client.stream.isReading = false
            // With TLS, each write is a separate TLS record. OpenSSL reads all records from the socket with the first
            // record.
            for number in 0..<10 {
                server.write("\(number)")
                try await Loop.sleep(for: .milliseconds(1))
            }
            client.afterBytes = { [unowned client] in client.stream.isReading = false }
            for count in 1...10 where client.received.count < count {
                client.stream.isReading = true
                try await client.wait(for: count)
            }
            #expect(client.text == "0123456789")
        }
    }

    @Test func `a program that does not read does not reply even if its system has the bytes`() async throws {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server(.tls).connect()
            #expect(client.stream.hasKeyUpdates)
            server.stream.isReading = false
            var questions = 0
            client.stream.source = { output in
                guard questions < 2 else { return }
                questions += 1
                client.stream.requestKeyUpdate()
                Array("\(questions)".utf8).withUnsafeBytes { output.append($0) }
            }
            client.stream.setNeedsFlush()
            #expect(await until { questions == 2 && client.stream.queuedBytes == 0 })
            server.write("alive")
            #expect(try await client.expect("alive"))
            #expect(client.stream.keyUpdates == 0)
            server.stream.isReading = true
            #expect(try await server.expect("12"))
            #expect(await until { client.stream.keyUpdates > 0 })
        }
    }

    @Test func `a question to a closed peer does not lose its earlier bytes`() async throws {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server(.tls).connect()
            var turn = 0
            client.stream.source = { output in
                turn += 1
                // The peer has closed its socket, so the peer's system replies to the first write with a reset.
                if turn == 1 { Array("too late".utf8).withUnsafeBytes { output.append($0) } }
                if turn == 2 { client.stream.requestKeyUpdate() }
            }
            server.write("why I go")
            server.stream.close()
            client.stream.sendNow()
            #expect(turn == 2)
            #expect(try await client.expect("why I go"))
            _ = try await client.ends.next()
        }
    }

    @Test(arguments: Kind.allCases) func `close sends all written bytes`(kind: Kind) async throws {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server(kind).connect()
            client.write("last words")
            client.stream.close()
            #expect(try await server.ends.next() == "closed by the peer")
            #expect(server.text == "last words")
            client.write("too late")
            #expect(client.stream.queuedBytes == 0)
        }
    }

    @Test func `close asks the source one last time`() async throws {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server().connect()
            _ = client.pour(1000)
            client.stream.close()
            _ = try await server.ends.next()
            #expect(server.received.count == 1000)
        }
    }

    @Test(arguments: Kind.allCases) func `a released stream is closed`(kind: Kind) async throws {
        try await onLoop { () async throws -> Void in
            let server = try await Server(kind)
            var client: ByteStream? = try await server.dial.connect()
            let party = try await server.accepted.next()
            #expect(client != nil)
            client = nil
            #expect(try await party.ends.next() == "closed by the peer")
        }
    }

    @Test(arguments: Kind.allCases)
    func `the last bytes of a closed peer are delivered even if a write fails first`(
        kind: Kind
    ) async throws {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server(kind).connect()
            server.stream.isReading = false
            client.write("never read")
            try await Loop.sleep(for: .milliseconds(2))
            // If a socket with unread bytes is closed, the system sends a reset.
            server.write("last words")
            server.stream.close()
            client.write("too late")
            _ = try await client.ends.next()
            #expect(client.text == "last words")
        }
    }

    /// An owner that its stream's callbacks capture as `unowned`.
    @Loop private final class Owner {
        let stream: ByteStream
        private let fountain = ByteSource(100)
        init(_ stream: ByteStream) {
            self.stream = stream
            stream.source = { [unowned self] output in fountain.fill(&output) }
            stream.onEnd = { [unowned self] _ in fountain.stop() }
            stream.setNeedsFlush()
        }
    }

    @Test(arguments: Kind.allCases) func `an owner that is released with its stream is not asked for more`(
        kind: Kind
    ) async throws {
        try await onLoop { () async throws -> Void in
            let server = try await Server(kind)
            var owner: Owner? = Owner(try await server.dial.connect())
            let party = try await server.accepted.next()
            #expect(owner != nil)
            owner = nil
            #expect(try await party.ends.next() == "closed by the peer")
        }
    }

    @Test(arguments: [Kind.plain, .tls]) func `a reset by the peer is reported once`(kind: Kind) async throws
    {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server(kind).connect()
            server.stream.reset()
            #expect(try await client.ends.next().contains("reset"))
            client.write("x")
            client.stream.close()
            try await Loop.sleep(for: .milliseconds(1))
            #expect(client.ends.all.count == 1)
            #expect(server.ends.all.isEmpty)
        }
    }

    @Test(arguments: [Kind.plain, .tls])
    func `nothing is reported after close even if the shutdown meets a reset`(
        kind: Kind
    ) async throws {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server(kind).connect()
            server.stream.reset()
            client.write("x")
            client.stream.close()
            try await Loop.sleep(for: .milliseconds(1))
            #expect(client.ends.all.isEmpty)
        }
    }

    @Test(arguments: Kind.allCases) func `a stream may be closed while it is being read`(kind: Kind)
        async throws
    {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server(kind).connect()
            client.afterBytes = { [unowned client] in client.stream.close() }
            _ = server.pour(4 << 20)
            _ = try await client.arrivals.next()
            try await Loop.sleep(for: .milliseconds(1))
            #expect(client.arrivals.all.count == 1 && client.ends.all.isEmpty)
            _ = try await server.ends.next()
        }
    }

    @Test(arguments: Kind.allCases) func `a stream may be released while it is being read`(kind: Kind)
        async throws
    {
        try await onLoop { () async throws -> Void in
            let server = try await Server(kind)
            let calls = Mailbox<Int>()
            var client: ByteStream? = try await server.dial.connect()
            client?.onBytes = { bytes in
                calls.put(bytes.count)
                client = nil
            }
            let party = try await server.accepted.next()
            _ = party.pour(4 << 20)
            _ = try await calls.next()
            _ = try await party.ends.next()
            // After the release, the stream only finishes the read that has already begun.
            #expect(calls.all.count <= 16)
        }
    }

    @Test(arguments: Kind.allCases) func `a stream may be closed by its own source`(kind: Kind) async throws {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server(kind).connect()
            client.stream.source = { [unowned client] output in
                Array("end".utf8).withUnsafeBytes { output.append($0) }
                client.stream.close()
            }
            client.stream.setNeedsFlush()
            _ = try await server.ends.next()
            #expect(server.text == "end")
        }
    }

    @Test func `a peer that ended only its output has ended`() async throws {
        try await onLoop { () async throws -> Void in
            let server = try await Server()
            let client = try RawSocket(port: server.listener.address.port)
            let party = try await server.accepted.next()
            client.write("all I have")
            client.endSending()
            #expect(try await party.ends.next() == "closed by the peer")
            #expect(party.text == "all I have")
        }
    }

    @Test func `a TLS stream that is cut has no orderly end`() async throws {
        try await onLoop { () async throws -> Void in
            let (client, server) = try await Server(.tls).connect()
            server.stream.reset()
            let end = try await client.ends.next()
            #expect(end != "closed by the peer")
        }
    }

    @Test(arguments: [Kind.plain, .tls]) func `streams know the address of their peer`(kind: Kind)
        async throws
    {
        try await onLoop { () async throws -> Void in
            let server = try await Server(kind)
            let (client, accepted) = try await server.connect()
            #expect(client.stream.peer == "\(server.endpoint)")
            #expect(accepted.stream.peer.hasPrefix("127.0.0.1:"))
            #expect(accepted.stream.peer != "\(server.endpoint)")
        }
    }
}
