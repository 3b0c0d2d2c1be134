import HTTP2
import Testing

@Suite struct ExchangeTests {
    @Test(arguments: [1, 7, 100, 65_536])
    func `a push gets its 200 with any size of pieces`(piece: Int) throws {
        let wire = try Wire(piece: piece)
        wire.onRequest = { server, request in
            server.respond(to: request.stream, responseHeaders(200, [("apns-id", "ID")]))
        }
        let headers = pushHeaders()
        headers.set(4, "123e4567-e89b-12d3-a456-42665544000a")
        #expect(wire.client.submit(headers, text: #"{"aps":{}}"#, tag: 7) == .opened(stream: 1))
        try wire.run()
        let request = try #require(wire.requests.first)
        #expect(request.fields[.method] == "POST")
        #expect(request.fields[.path] == "/3/device/00ff")
        #expect(request.fields[.authority] == "localhost")
        #expect(request.fields[.authorization] == "bearer abc")
        #expect(request.fields[.topic] == "com.example")
        #expect(request.fields[.id] == "123e4567-e89b-12d3-a456-42665544000a")
        #expect(request.fields[.pushType] == nil)
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"aps":{}}"#)
        #expect(wire.responses == [Wire.Reply(tag: 7, status: 200)])
        #expect(wire.client.openStreams == 0)
        #expect(wire.server.openStreams == 0)
    }

    @Test func `an error has its JSON, retry-after and identifiers when requested`() throws {
        let wire = try Wire()
        wire.client.keepsIdentifiers = true
        wire.onRequest = { server, request in
            let fields = [("apns-id", "A-1"), ("apns-unique-id", "U-1"), ("retry-after", "30")]
            server.respond(
                to: request.stream, responseHeaders(429, fields), text: #"{"reason":"TooManyRequests"}"#)
        }
        _ = wire.client.submit(pushHeaders(), tag: 1)
        try wire.run()
        #expect(
            wire.responses == [
                Wire.Reply(
                    tag: 1, status: 429, body: #"{"reason":"TooManyRequests"}"#, retryAfter: 30, id: "A-1",
                    uniqueID: "U-1")
            ])
    }

    @Test(arguments: ["", "x", "-1", "1234567890", "Wed, 21 Oct 2015 07:28:00 GMT"])
    func `a retry-after that is not a number is ignored`(text: String) throws {
        let wire = try Wire()
        wire.onRequest = { $0.respond(to: $1.stream, responseHeaders(503, [("retry-after", text)])) }
        _ = wire.client.submit(pushHeaders(), tag: 1)
        try wire.run()
        #expect(wire.responses == [Wire.Reply(tag: 1, status: 503)])
    }

    @Test func `thousands of streams with responses out of order keep their tag and body`() throws {
        let wire = try Wire(piece: 4_096)
        var waiting: [Wire.Message] = []
        wire.onRequest = { _, request in waiting.append(request) }
        let headers = pushHeaders()
        for tag in 0..<3_000 as Range<UInt32> {
            headers.set(3, String(tag))
            #expect(
                wire.client.submit(headers, text: "body \(tag)", tag: tag)
                    == .opened(stream: Int32(2 * tag + 1)))
        }
        #expect(wire.client.openStreams == 3_000)
        try wire.run()
        #expect(waiting.count == 3_000)
        for request in waiting.reversed() {
            let name = try #require(request.fields[.path]).dropFirst("/3/device/".count)
            #expect(request.body == Array("body \(name)".utf8))
            wire.server.respond(to: request.stream, responseHeaders(400), text: "no \(name)")
        }
        try wire.run()
        let expected = (0..<3_000).reversed().map {
            Wire.Reply(tag: UInt32($0), status: 400, body: "no \($0)")
        }
        #expect(wire.responses == expected)
        #expect(wire.client.openStreams == 0)
        #expect(wire.server.openStreams == 0)
    }

    @Test func `a value replaced right after submission does not affect an earlier request`() throws {
        let wire = try Wire()
        let headers = pushHeaders()
        for tag in 1...5 as ClosedRange<UInt32> {
            headers.set(3, "0\(tag)")
            if tag % 2 == 0 { headers.omit(4) } else { headers.set(4, "id-\(tag)") }
            _ = wire.client.submit(headers, tag: tag)
        }
        try wire.run()
        #expect(wire.requests.map { $0.fields[.path] } == (1...5).map { "/3/device/0\($0)" })
        #expect(wire.requests.map { $0.fields[.id] } == ["id-1", nil, "id-3", nil, "id-5"])
    }

    @Test func `a header block that its owner releases lives until it is sent`() throws {
        let wire = try Wire()
        for tag in 0..<50 as Range<UInt32> {
            let block = HeaderBlock([
                .fixed(":method", "POST"), .fixed(":scheme", "https"), .fixed(":authority", "a"),
                .fixed(":path", "/3/device/\(tag)"),
                .fixed("apns-topic", "topic-\(tag)"),
            ])
            _ = wire.client.submit(block, tag: tag)
        }
        try wire.run()
        #expect(wire.requests.map { $0.fields[.topic] } == (0..<50).map { "topic-\($0)" })
    }

    @Test func `a repeated field is reported and its first value is kept`() throws {
        let wire = try Wire()
        let block = HeaderBlock([
            .fixed(":method", "POST"), .fixed(":scheme", "https"), .fixed(":authority", "a"),
            .fixed(":path", "/3/device/00"),
            .fixed("apns-topic", "first"), .fixed("apns-topic", "second"), .fixed("user-agent", "x"),
            .fixed("user-agent", "y"),
        ])
        _ = wire.client.submit(block, tag: 1)
        try wire.run()
        #expect(wire.requests.map(\.repeated) == [[.topic]])
        #expect(wire.requests.map { $0.fields[.topic] } == ["first"])
    }

    @Test func `every known field is distinguished from similar fields`() throws {
        let wire = try Wire()
        let plain = RequestField.allCases.filter { "\($0.name)".first != ":" && $0 != .contentLength }
        var fields: [HeaderField] = [
            .fixed(":method", "POST"), .fixed(":scheme", "https"), .fixed(":authority", "a"),
            .fixed(":path", "/"),
        ]
        fields += plain.map { .fixed("\($0.name)", "value-of-\($0)") }
        fields += plain.map { .fixed("\($0.name)".dropLast() + "_", "stranger") }
        fields.append(.fixed("content-length", "2"))
        _ = wire.client.submit(HeaderBlock(fields), tag: 1)
        try wire.run()
        let request = try #require(wire.requests.first)
        for field in plain { #expect(request.fields[field] == "value-of-\(field)") }
        #expect(request.fields[.contentLength] == "2")
        #expect(request.repeated.isEmpty)
    }

    @Test func `a request without a body gets its response`() throws {
        let wire = try Wire()
        wire.onRequest = { $0.respond(to: $1.stream, responseHeaders(400), text: "empty") }
        _ = wire.client.submit(pushHeaders(), text: "", tag: 1)
        try wire.run()
        #expect(wire.requests.map(\.bodyCount) == [0])
        #expect(wire.responses == [Wire.Reply(tag: 1, status: 400, body: "empty")])
    }
}
