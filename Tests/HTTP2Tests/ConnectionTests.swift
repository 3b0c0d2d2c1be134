import HTTP2
import Testing

@Suite struct ConnectionTests {
    private func settings(streams: UInt32) -> SessionSettings {
        var settings = SessionSettings()
        settings.maxConcurrentStreams = streams
        return settings
    }

    private func limits(_ wire: Wire) -> [UInt32] {
        wire.clientEvents.compactMap {
            if case .settings(let settings) = $0 { settings.maxConcurrentStreams } else { nil }
        }
    }

    @Test func `nothing is submitted before the settings of the peer`() {
        let client = ClientSession()
        #expect(client.remoteMaxConcurrentStreams == 0)
        #expect(client.remoteMaxConcurrentStreams == 0)
        #expect(client.submit(pushHeaders(), tag: 1) == .full)
    }

    @Test func `the limit of streams and each change of it apply`() throws {
        let wire = try Wire(server: settings(streams: 1))
        #expect(wire.client.submit(pushHeaders(), tag: 1) == .opened(stream: 1))
        #expect(wire.client.submit(pushHeaders(), tag: 2) == .full)
        try wire.run()
        wire.server.respond(to: 1, responseHeaders(200))
        wire.server.setMaxConcurrentStreams(3)
        try wire.run()
        #expect(wire.client.remoteMaxConcurrentStreams == 3)
        for tag in 3...5 as ClosedRange<UInt32> {
            #expect(wire.client.submit(pushHeaders(), tag: tag) != .full)
        }
        #expect(wire.client.submit(pushHeaders(), tag: 6) == .full)
        try wire.run()
        wire.server.setMaxConcurrentStreams(0)
        try wire.run()
        #expect(limits(wire) == [1, 3, 0])
        for stream in [3, 5, 7] as [Int32] { wire.server.respond(to: stream, responseHeaders(200)) }
        try wire.run()
        #expect(wire.responses.map(\.tag) == [1, 3, 4, 5])
        #expect(wire.client.submit(pushHeaders(), tag: 7) == .full)
    }

    @Test func `streams above a lowered limit are refused as unprocessed`() throws {
        let wire = try Wire(server: settings(streams: 100))
        wire.server.setMaxConcurrentStreams(2)
        for tag in 0..<5 as Range<UInt32> { _ = wire.client.submit(pushHeaders(), tag: tag) }
        // The client sends the requests before it gets the new limit.
        wire.onRequest = { $0.respond(to: $1.stream, responseHeaders(200)) }
        try wire.run()
        #expect(wire.responses.count + wire.closed.count == 5)
        for closed in wire.closed { #expect(closed.code == 7 && closed.unprocessed) }
    }

    @Test(arguments: [(7, true), (5, false), (8, false), (0, false), (0xdead, false)] as [(UInt32, Bool)])
    func `a reset stream is reported with its code`(code: UInt32, unprocessed: Bool) throws {
        let wire = try Wire()
        wire.onRequest = { $0.reset($1.stream, code: code) }
        _ = wire.client.submit(pushHeaders(), tag: 5)
        try wire.run()
        #expect(wire.responses.isEmpty)
        #expect(wire.closed == [Wire.Closed(tag: 5, code: code, unprocessed: unprocessed)])
        #expect(wire.client.openStreams == 0)
    }

    @Test func `a refused stream counts as unprocessed`() throws {
        let wire = try Wire()
        wire.onRequest = { $0.refuse($1.stream) }
        _ = wire.client.submit(pushHeaders(), tag: 5)
        try wire.run()
        #expect(wire.closed == [Wire.Closed(tag: 5, code: 7, unprocessed: true)])
    }

    @Test func `GOAWAY leaves later streams unprocessed and earlier streams get responses`() throws {
        let wire = try Wire()
        for tag in 0..<4 as Range<UInt32> { _ = wire.client.submit(pushHeaders(), tag: tag) }
        try wire.run()
        wire.server.goAway(lastStream: 3, code: 0, text: #"{"reason":"Shutdown"}"#)
        try wire.run()
        let unprocessed = [2, 3].map { Wire.Closed(tag: $0, code: 7, unprocessed: true) }
        #expect(wire.closed.sorted { $0.tag < $1.tag } == unprocessed)
        let goAways = wire.clientEvents.compactMap { event -> String? in
            guard case .goAway(let last, let code, let debug) = event else { return nil }
            return "\(last) \(code) \(String(decoding: debug, as: UTF8.self))"
        }
        #expect(goAways == [#"3 0 {"reason":"Shutdown"}"#])
        #expect(wire.client.isGoingAway)
        #expect(wire.client.submit(pushHeaders(), tag: 9) == .closing)
        #expect(!wire.client.isFinished)
        wire.server.respond(to: 1, responseHeaders(200))
        wire.server.respond(to: 3, responseHeaders(200))
        try wire.run()
        #expect(wire.responses.map(\.tag) == [0, 1])
        #expect(wire.client.openStreams == 0)
        #expect(wire.client.isFinished)
        #expect(wire.server.isFinished)
    }

    @Test func `an announced GOAWAY does not refuse streams yet`() throws {
        let wire = try Wire()
        wire.server.announceGoAway()
        _ = wire.client.submit(pushHeaders(), tag: 1)
        try wire.run()
        wire.server.goAway()
        try wire.run()
        wire.server.respond(to: 1, responseHeaders(200))
        try wire.run()
        let last = wire.clientEvents.compactMap { event -> Int32? in
            if case .goAway(let last, _, _) = event { last } else { nil }
        }
        #expect(last == [.max, 1])
        #expect(wire.responses.map(\.status) == [200])
        #expect(wire.closed.isEmpty)
        #expect(wire.client.isFinished)
    }

    @Test func `GOAWAY leaves requests unprocessed that are sent at the same time`() throws {
        let wire = try Wire()
        wire.server.goAway(lastStream: 0, code: 0, text: "")
        for tag in 0..<3 as Range<UInt32> { _ = wire.client.submit(pushHeaders(), tag: tag) }
        try wire.runServerOnly()
        try wire.run()
        #expect(wire.requests.isEmpty)
        #expect(wire.closed == (0..<3).map { Wire.Closed(tag: $0, code: 7, unprocessed: true) })
        #expect(wire.client.openStreams == 0)
    }

    @Test func `the client's own reset ends the stream on both sides`() throws {
        let wire = try Wire()
        _ = wire.client.submit(pushHeaders(), tag: 4)
        try wire.run()
        wire.client.reset(1)
        try wire.run()
        #expect(wire.closed == [Wire.Closed(tag: 4, code: 8, unprocessed: false)])
        let reported = wire.serverEvents.contains {
            if case .closed(stream: 1, code: 8, wasRequested: true) = $0 { true } else { false }
        }
        #expect(reported)
        #expect(wire.server.respond(to: 1, responseHeaders(200)) == false)
    }

    @Test func `a request that is reset before sending was never sent`() throws {
        let wire = try Wire()
        _ = wire.client.submit(pushHeaders(), tag: 4)
        wire.client.reset(1)
        try wire.run()
        #expect(wire.closed.map(\.tag) == [4])
        #expect(wire.client.openStreams == 0)
    }

    @Test func `a request that a lowered limit delays ends at once when it is reset`() throws {
        let wire = try Wire()
        let headers = pushHeaders()
        guard case .opened(let stream) = wire.client.submit(headers, tag: 7) else {
            Issue.record("not opened")
            return
        }
        wire.server.setMaxConcurrentStreams(0)
        try wire.runServerOnly()
        try wire.run()
        #expect(wire.requests.isEmpty && !wire.client.hasLeft(stream))
        wire.client.reset(stream)
        wire.drainClient()
        #expect(wire.closed == [.init(tag: 7, code: ErrorCode.refusedStream, unprocessed: true)])
        #expect(wire.client.openStreams == 0)
        // The client never sends the cancelled request, even after the limit has risen.
        wire.server.setMaxConcurrentStreams(10)
        try wire.run()
        #expect(wire.client.submit(headers, tag: 8) != .full)
        try wire.run()
        #expect(wire.requests.count == 1 && wire.closed.count == 1)
    }

    @Test func `an abandoned session reports which requests may have arrived`() throws {
        let wire = try Wire()
        _ = wire.client.submit(pushHeaders(), tag: 1)
        try wire.run()
        _ = wire.client.submit(pushHeaders(), tag: 2)
        wire.client.abandon()
        wire.drainClient()
        #expect(
            wire.closed.sorted { $0.tag < $1.tag } == [
                Wire.Closed(tag: 1, code: 8, unprocessed: false),
                Wire.Closed(tag: 2, code: 8, unprocessed: true),
            ])
        #expect(wire.client.isFinished)
        #expect(wire.client.submit(pushHeaders(), tag: 3) == .closing)
    }

    @Test func `both sides reply to PING`() throws {
        let wire = try Wire()
        wire.client.ping(0x0102_0304_0506_0708)
        try wire.run()
        let pongs = wire.clientEvents.compactMap { if case .pong(let number) = $0 { number } else { nil } }
        let pings = wire.serverEvents.compactMap { if case .ping(let number) = $0 { number } else { nil } }
        #expect(pongs == [0x0102_0304_0506_0708])
        #expect(pings == [0x0102_0304_0506_0708])
    }

    @Test func `a client that closes finishes after its last stream`() throws {
        let wire = try Wire()
        _ = wire.client.submit(pushHeaders(), tag: 1)
        try wire.run()
        wire.client.goAway()
        try wire.run()
        #expect(wire.client.submit(pushHeaders(), tag: 2) == .closing)
        wire.server.respond(to: 1, responseHeaders(200))
        try wire.run()
        #expect(wire.responses.map(\.tag) == [1])
        #expect(wire.client.isFinished)
    }
}
