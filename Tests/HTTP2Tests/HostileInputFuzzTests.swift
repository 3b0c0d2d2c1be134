import HTTP2
import RandomTesting
import Testing

/// Gives changed and truncated recordings to both sides of a session.
struct HostileInputFuzzTests {
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
