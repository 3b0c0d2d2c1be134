import HTTP2
import Testing

@Suite struct FlowControlTests {
    private func body(_ count: Int, seed: Int) -> String {
        String(decoding: (0..<count).map { UInt8(97 + ($0 * 7 + seed) % 26) }, as: UTF8.self)
    }

    @Test(arguments: [1, 16, 999, 65_535])
    func `bodies arrive complete and unmixed through windows of any size`(window: UInt32) throws {
        var settings = SessionSettings()
        settings.initialWindowSize = window
        let wire = try Wire(client: settings, server: settings, piece: 1_000)
        wire.onRequest = { server, request in
            server.respond(
                to: request.stream, responseHeaders(400),
                text: String(decoding: request.body.prefix(900), as: UTF8.self))
        }
        for tag in 0..<20 as Range<UInt32> {
            _ = wire.client.submit(pushHeaders(), text: body(1_500, seed: Int(tag)), tag: tag)
        }
        try wire.run()
        #expect(wire.requests.count == 20)
        for request in wire.requests {
            #expect(request.body == Array(body(1_500, seed: Int(request.stream / 2)).utf8))
        }
        let responses = wire.responses.sorted { $0.tag < $1.tag }
        #expect(responses.map(\.body) == (0..<20).map { String(body(1_500, seed: $0).prefix(900)) })
    }

    @Test func `bodies up to 200,000 bytes arrive and a server keeps the first 16,384`() throws {
        let wire = try Wire()
        let sizes = [0, 1, 256, 4_096, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 200_000]
        for (tag, size) in sizes.enumerated() {
            _ = wire.client.submit(pushHeaders(), text: body(size, seed: tag), tag: UInt32(tag))
        }
        try wire.run()
        let requests = wire.requests.sorted { $0.stream < $1.stream }
        #expect(requests.map(\.bodyCount) == sizes)
        for (tag, size) in sizes.enumerated() {
            #expect(requests[tag].body == Array(body(size, seed: tag).utf8.prefix(16_384)))
        }
    }

    @Test func `a response body is cut at 1,024 bytes`() throws {
        let wire = try Wire()
        wire.onRequest = { $0.respond(to: $1.stream, responseHeaders(500), text: self.body(70_000, seed: 3)) }
        _ = wire.client.submit(pushHeaders(), tag: 1)
        try wire.run()
        #expect(wire.responses.map(\.body) == [String(body(70_000, seed: 3).prefix(1_024))])
    }

    @Test func `a response before the end of the request body ends the upload`() throws {
        var settings = SessionSettings()
        settings.initialWindowSize = 10
        let raw = RawServer()
        let client = ClientSession()
        try raw.greet(client, [(4, 10)])
        let stream = client.submit(pushHeaders(), text: body(5_000, seed: 0), tag: 9)
        #expect(stream == .opened(stream: 1))
        _ = try raw.read(client)
        // A HEADERS frame with END_STREAM | END_HEADERS. The frame's only field is ":status" with the literal "413".
        try raw.send(client, type: 1, flags: 5, stream: 1, [0x08, 0x03] + Array("413".utf8))
        guard case .responded(let response)? = client.nextEvent() else {
            Issue.record("no answer")
            return
        }
        #expect(response.status == 413)
        #expect(client.nextEvent() == nil)
        // The client sends RST_STREAM with the code CANCEL.
        #expect(
            try raw.read(client).contains(
                RawServer.Frame(type: 3, flags: 0, stream: 1, payload: [0, 0, 0, 8])))
        #expect(client.nextEvent() == nil)
        #expect(client.openStreams == 0)
    }
}
