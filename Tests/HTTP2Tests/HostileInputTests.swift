import HTTP2
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
}
