import Chaos
import EventLoop
import LoopTesting
import Testing
import Transport

/// The proxy forwards every byte, and injects the configured faults.
@Suite(.timeLimit(.minutes(2))) struct FaultProxyTests {
    @Test func `bytes arrive in order, in both directions`() async throws {
        try await onLoop {
            let line = try await Line()
            for _ in 0..<200 { line.say(String(repeating: "x", count: 5_000)) }
            line.say("end")
            #expect(await until { line.heard.count == 1_000_003 })
            #expect(line.heard.suffix(4) == Array("xend".utf8))
        }
    }

    @Test(arguments: [ProxyLink.Cut.finish, .reset]) func `a cut ends both sides`(how: ProxyLink.Cut)
        async throws
    {
        try await onLoop {
            let line = try await Line()
            line.say("hello")
            #expect(await until { line.heard.count == 5 })
            line.proxy.cut(how)
            #expect(await until { line.hasEnded && line.serverEnds == 1 })
            #expect(line.proxy.links.isEmpty)
        }
    }

    @Test func `on a half-open connection the client gets no more bytes and no end`() async throws {
        try await onLoop {
            let line = try await Line()
            line.say("hello")
            #expect(await until { line.heard.count == 5 })
            line.proxy.cut(.halfOpen)
            #expect(await until { line.serverEnds == 1 })
            line.say("anybody there?")
            try await Loop.sleep(for: .milliseconds(200))
            #expect(line.heard.count == 5 && !line.hasEnded)
        }
    }

    @Test func `blocked bytes arrive only after the block`() async throws {
        try await onLoop {
            let line = try await Line()
            line.proxy.fare = LinkFaults(down: LinkFaults.Direction(isBlocked: true))
            line.say("question")
            #expect(await until { line.serverHeard == 8 })
            try await Loop.sleep(for: .milliseconds(200))
            #expect(line.heard.isEmpty)
            line.proxy.heal()
            #expect(await until { line.heard == Array("question".utf8) })
        }
    }

    @Test func `delay and rate limit slow bytes down and lose no byte`() async throws {
        try await onLoop {
            let line = try await Line()
            line.proxy.fare = .both(LinkFaults.Direction(delay: .milliseconds(150)))
            let start = ContinuousClock.now
            line.say("question")
            #expect(await until { line.heard.count == 8 })
            #expect(ContinuousClock.now - start >= .milliseconds(300))
            line.proxy.fare = LinkFaults(up: LinkFaults.Direction(rate: 40_000))
            let second = ContinuousClock.now
            line.say(String(repeating: "y", count: 20_000))
            #expect(await until { line.heard.count == 20_008 })
            #expect(ContinuousClock.now - second >= .milliseconds(400))
        }
    }

    @Test func `new connections are forwarded, refused or kept silent`() async throws {
        try await onLoop {
            let line = try await Line()
            for welcome in [FaultProxy.AcceptMode.close, .reset] {
                line.proxy.welcome = welcome
                // A reset may arrive before the connection is established, so errors of the call are ignored.
                try? await line.call()
                #expect(await until { line.hasEnded })
            }
            line.proxy.welcome = .silence
            try await line.call()
            line.say("hello")
            try await Loop.sleep(for: .milliseconds(200))
            #expect(!line.hasEnded && line.heard.isEmpty)
            line.proxy.heal()
            #expect(await until { line.hasEnded })
            try await line.call()
            line.say("hello")
            #expect(await until { line.heard.count == 5 })
        }
    }
}

/// A client and an echo server, with the proxy between them.
@Loop private final class Line {
    let proxy: FaultProxy
    private let listener: Listener
    private var caller: ByteStream?
    private(set) var heard: [UInt8] = []
    private(set) var hasEnded = false
    private let server = Server()

    var serverHeard: Int { server.heard }
    var serverEnds: Int { server.ends }

    init() async throws {
        let server = server
        listener = try await Listener(.tcp(host: "127.0.0.1", port: 0), tls: nil) { server.serve($0) }
        proxy = try await FaultProxy(
            .tcp(host: "127.0.0.1", port: 0), to: .tcp(host: "127.0.0.1", port: listener.address.port))
        try await call()
    }

    isolated deinit {
        proxy.close()
        listener.close()
    }

    func call() async throws {
        heard = []
        hasEnded = true
        let stream = try await Dial(.tcp(host: "127.0.0.1", port: proxy.port), timeout: .seconds(10))
            .connect()
        hasEnded = false
        stream.onBytes = { [unowned self] in heard += $0 }
        stream.onEnd = { [unowned self] _ in hasEnded = true }
        caller = stream
    }

    func say(_ text: String) {
        var text = text
        text.withUTF8 { caller?.write(UnsafeRawBufferPointer($0)) }
    }

    @Loop final class Server {
        private(set) var heard = 0
        private(set) var ends = 0
        private var streams: [ByteStream] = []

        nonisolated init() {}

        func serve(_ stream: ByteStream) {
            streams.append(stream)
            stream.onBytes = { [unowned self, unowned stream] bytes in
                heard += bytes.count
                stream.write(bytes)
            }
            stream.onEnd = { [unowned self] _ in ends += 1 }
        }
    }
}
