import RandomTesting
import Testing

@testable import HTTP2

/// Checks that libnghttp2 decodes the header lists that the farm encodes.
@Suite struct HeaderQueueTests {
    private static func block() -> HeaderBlock {
        HeaderBlock([
            .fixed(":method", "POST"), .fixed(":scheme", "https"), .fixed(":authority", "localhost"),
            .own(":path", prefix: "/3/device/", capacity: 600),
            .changeable("authorization", prefix: "bearer ", capacity: 4096),
            .changeable("apns-topic", capacity: 300, indexed: true),
            .changeable("apns-priority", capacity: 10, indexed: true),
            .changeable("apns-collapse-id", capacity: 64),
            .own("apns-id", capacity: 300),
        ])
    }

    /// Covers header tables of every size; values that appear, disappear, change, or are too long for a one-byte length; requests
    /// that are cancelled before they are sent; and bytes that arrive in pieces.
    @Test(arguments: 1...12) func `submitted headers arrive unchanged`(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        var settings = SessionSettings()
        settings.headerTableSize = [0, 40, 100, 200, 1000, 4096, 65_536].randomElement(using: &random)!
        let wire = try Wire(server: settings, piece: [1, 17, 1000, 65_536].randomElement(using: &random)!)
        wire.onRequest = { $0.respond(to: $1.stream, responseHeaders(200)) }
        let block = Self.block()
        let indices: [(RequestField, Int, Int)] = [
            (.authorization, 4, 400), (.topic, 5, 40), (.priority, 6, 2), (.collapseID, 7, 64),
        ]
        var now: [RequestField: String] = [.method: "POST", .authority: "localhost"]
        var wanted: [[RequestField: String]] = []
        func text(_ most: Int) -> String {
            String(
                (0..<Int.random(in: 1...most, using: &random)).map { _ in
                    "abcdefgh0123".randomElement(using: &random)!
                })
        }
        for round in 0..<12 {
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                for (field, index, most) in indices where Int.random(in: 0..<4, using: &random) == 0 {
                    if Int.random(in: 0..<4, using: &random) == 0 {
                        block.omit(index)
                        now[field] = nil
                    } else {
                        let value = text(most)
                        block.set(index, value)
                        now[field] = (field == .authorization ? "bearer " : "") + value
                    }
                }
                let path = text(Int.random(in: 0..<8, using: &random) == 0 ? 600 : 64)
                let id = text(Int.random(in: 0..<8, using: &random) == 0 ? 300 : 36)
                block.set(3, path)
                block.set(8, id)
                (now[.path], now[.id]) = ("/3/device/" + path, id)
                guard case .opened(let stream) = wire.client.submit(block, tag: UInt32(round)) else {
                    continue
                }
                if Int.random(in: 0..<6, using: &random) == 0 {
                    wire.client.reset(stream)
                } else {
                    wanted.append(now)
                }
            }
            try wire.run()
        }
        #expect(wire.requests.count == wanted.count)
        let wrong = zip(wire.requests, wanted).first { $0.fields != $1 }
        #expect(wrong == nil, "expected \(wrong?.1 ?? [:])")
    }

    @Test func `each indexed value is sent once`() throws {
        let wire = try Wire()
        let block = Self.block()
        block.set(4, String(repeating: "t", count: 200))
        block.set(5, String(repeating: "x", count: 200))
        var sizes: [Int] = []
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
        defer { room.deallocate() }
        for tag in 0..<3 as Range<UInt32> {
            block.set(3, "00ff")
            block.set(8, "id")
            block.set(5, String(repeating: "x", count: 200))
            _ = wire.client.submit(block, tag: tag)
            let count = try wire.client.fill(room)
            sizes.append(count)
            try wire.server.receive(UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
        #expect(sizes[1] < sizes[0] - 200)
        #expect(sizes[2] == sizes[1])
    }

    @Test func `a header list longer than a frame arrives`() throws {
        var settings = SessionSettings()
        settings.maxHeaderListSize = 65_536
        let wire = try Wire(server: settings)
        let block = HeaderBlock([
            .fixed(":method", "POST"), .fixed(":scheme", "https"), .fixed(":authority", "a"),
            .own(":path", capacity: 10_000), .fixed("apns-topic", "topic"),
            .changeable("x-long", capacity: 30_000), .own("apns-id", capacity: 10),
        ])
        wire.onRequest = { $0.respond(to: $1.stream, responseHeaders(200)) }
        block.set(3, "/" + String(repeating: "p", count: 8_000))
        block.set(5, String(repeating: "v", count: 30_000))
        block.set(6, "id")
        for tag in 0..<2 as Range<UInt32> { _ = wire.client.submit(block, tag: tag) }
        try wire.run()
        #expect(wire.requests.map { $0.fields[.path]?.count } == [8_001, 8_001])
        #expect(wire.requests.map { $0.fields[.id] } == ["id", "id"])
    }
}
