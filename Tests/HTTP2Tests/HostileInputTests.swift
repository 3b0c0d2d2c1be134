import HTTP2
import RandomTesting
import Testing

@Suite struct HostileInputTests {
    private func failures(_ client: ClientSession) -> [HTTP2Error] {
        var failures: [HTTP2Error] = []
        while let event = client.nextEvent() {
            if case .failed(let error) = event { failures.append(error) }
        }
        return failures
    }

    @Test func `a server that does not speak HTTP/2 ends the session with an error`() throws {
        let raw = RawServer()
        let client = ClientSession()
        try raw.give(client, Array("HTTP/1.1 400 Bad ServerRequest\r\nContent-Length: 0\r\n\r\n".utf8))
        let frames = try raw.read(client)
        #expect(frames.contains { $0.type == 7 })
        guard case .violation(code: _, text: _)? = failures(client).first else {
            Issue.record("no failure was reported")
            return
        }
        #expect(client.isFinished)
    }

    @Test func `a client that does not speak HTTP/2 is detected`() {
        let server = ServerSession()
        #expect(throws: HTTP2Error.notHTTP2) {
            try Array("GET / HTTP/1.1\r\n\r\n".utf8).withUnsafeBytes { try server.receive($0) }
        }
        #expect(throws: HTTP2Error.notHTTP2) {
            try [1].withUnsafeBytes { try server.receive($0) }
        }
        #expect(server.isFinished)
    }

    @Test(
        arguments: [
            ("DATA on stream 0", RawServer.frame(type: 0, flags: 0, stream: 0, [1])),
            ("window of 2^31", RawServer.frame(type: 8, flags: 0, stream: 0, [0x7f, 0xff, 0xff, 0xff])),
            ("SETTINGS of 5 bytes", RawServer.frame(type: 4, flags: 0, stream: 0, [0, 1, 2, 3, 4])),
            ("PING of 7 bytes", RawServer.frame(type: 6, flags: 0, stream: 0, [1, 2, 3, 4, 5, 6, 7])),
            ("CONTINUATION out of place", RawServer.frame(type: 9, flags: 4, stream: 1, [0x88])),
            ("HPACK index out of range", RawServer.frame(type: 1, flags: 5, stream: 1, [0xff, 0xff, 0x7f])),
            ("pushed stream", RawServer.frame(type: 5, flags: 4, stream: 1, [0, 0, 0, 2, 0x88])),
            ("frame too large", [0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]),
        ])
    func `a violation ends the session with a typed error`(name: String, bytes: [UInt8]) throws {
        let raw = RawServer()
        let client = ClientSession()
        try raw.greet(client)
        _ = client.submit(pushHeaders(), tag: 1)
        _ = try raw.read(client)
        try raw.give(client, bytes)
        _ = try raw.read(client)
        #expect(failures(client).count == 1, "\(name)")
        client.abandon()
        #expect(client.isFinished)
    }

    @Test func `a response with too many fields ends its stream only`() throws {
        let wire = try Wire()
        let many = (0..<80).map { ("x-field-\($0)", "v") }
        wire.onRequest = { $0.respond(to: $1.stream, responseHeaders(200, $1.stream == 1 ? many : [])) }
        _ = wire.client.submit(pushHeaders(), tag: 1)
        _ = wire.client.submit(pushHeaders(), tag: 2)
        try wire.run()
        #expect(wire.closed.map(\.tag) == [1])
        #expect(wire.responses.map(\.tag) == [2])
    }

    @Test(arguments: [(120, 5), (20, 2_000)])
    func `a request with too many or too large fields ends its stream only`(count: Int, size: Int) throws {
        let wire = try Wire()
        wire.onRequest = { $0.respond(to: $1.stream, responseHeaders(200)) }
        let value = String(repeating: "x", count: size)
        var fields: [HeaderField] = [
            .fixed(":method", "POST"), .fixed(":scheme", "https"), .fixed(":path", "/"),
        ]
        let known = RequestField.allCases.filter { "\($0.name)".hasPrefix("apns") }
        if size > 1_000 {
            fields += known.map { .fixed("\($0.name)", value) }
            fields += [.fixed("authorization", value), .fixed("host", value)]
        } else {
            fields += (0..<count).map { .fixed("x-\($0)", value) }
        }
        _ = wire.client.submit(HeaderBlock(fields), tag: 1)
        _ = wire.client.submit(pushHeaders(), tag: 2)
        try wire.run()
        #expect(wire.closed.map(\.tag) == [1])
        #expect(wire.responses.map(\.tag) == [2])
    }

    /// The bytes that a server sends in an ordinary session. The tests change and truncate these bytes.
    private func recording() throws -> [UInt8] {
        let server = ServerSession()
        let client = ClientSession()
        let raw = RawServer()
        var recorded: [UInt8] = []
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
        defer { room.deallocate() }
        for round in 0..<4 {
            for tag in 0..<8 as Range<UInt32> where round > 0 { _ = client.submit(pushHeaders(), tag: tag) }
            try raw.readBytes(client).withUnsafeBytes { try server.receive($0) }
            while let event = server.nextEvent() {
                guard case .request(let request) = event else { continue }
                let bad = request.stream % 4 == 1
                server.respond(
                    to: request.stream,
                    responseHeaders(bad ? 400 : 200, [("apns-id", "id-\(request.stream)")]),
                    text: bad ? #"{"reason":"BadDeviceToken"}"# : "")
            }
            if round == 2 { server.ping(1) }
            let count = try server.fill(room)
            recorded += room[..<count]
            try raw.give(client, Array(room[..<count]))
            while client.nextEvent() != nil {}
        }
        return recorded
    }

    @Test func `changed and truncated server bytes never trap`() throws {
        let recorded = try recording()
        var random = SplitMix(seed: 20_260)
        let (raw, headers) = (RawServer(), pushHeaders())
        for round in 0..<4_000 {
            var bytes = recorded
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            if round % 3 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            let client = ClientSession()
            client.keepsIdentifiers = round % 2 == 0
            var ended: [UInt32: Int] = [:]
            var opened = 0
            func drain() {
                while let event = client.nextEvent() {
                    switch event {
                    case .responded(let response): ended[response.tag, default: 0] += 1
                    case .closed(let tag, _, _, _): ended[tag, default: 0] += 1
                    default: break
                    }
                }
            }
            do throws(HTTP2Error) {
                while !bytes.isEmpty {
                    let count = min(bytes.count, Int.random(in: 1...60, using: &random))
                    try raw.give(client, Array(bytes.prefix(count)))
                    bytes.removeFirst(count)
                    for _ in 0..<3 {
                        if case .opened = client.submit(headers, tag: UInt32(opened)) { opened += 1 }
                    }
                    _ = try raw.readBytes(client)
                    drain()
                }
            } catch {}
            client.abandon()
            drain()
            #expect(client.openStreams == 0)
            #expect(ended.count == opened && ended.values.allSatisfy { $0 == 1 })
        }
    }

    @Test func `changed and truncated client bytes never trap a server`() throws {
        let client = ClientSession()
        let raw = RawServer()
        try raw.send(client, type: 4, [])
        var recorded = try raw.readBytes(client)
        for tag in 0..<20 as Range<UInt32> {
            _ = client.submit(pushHeaders(), text: "{\"n\":\(tag)}", tag: tag)
        }
        client.ping(3)
        recorded += try raw.readBytes(client)
        var random = SplitMix(seed: 77)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
        defer { room.deallocate() }
        for _ in 0..<4_000 {
            var bytes = recorded
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                bytes[Int.random(in: 24..<bytes.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            let server = ServerSession()
            do {
                while !bytes.isEmpty {
                    let count = min(bytes.count, Int.random(in: 1...200, using: &random))
                    try Array(bytes.prefix(count)).withUnsafeBytes { try server.receive($0) }
                    bytes.removeFirst(count)
                    while let event = server.nextEvent() {
                        if case .request(let request) = event {
                            server.respond(to: request.stream, responseHeaders(200), text: "x")
                        }
                    }
                    _ = try server.fill(room)
                }
            } catch is HTTP2Error {}
        }
    }
}
