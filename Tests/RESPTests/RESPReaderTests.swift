import RandomTesting
import Testing

@testable import RESP
@testable import RedisProtocol

@Suite struct RESPReaderTests {
    static let vectors: [(String, RESPValue)] = [
        ("+OK\r\n", .simple("OK")),
        ("-ERR no such key\r\n", .error(RESPServerError(message: "ERR no such key"))),
        (":-42\r\n", .integer(-42)),
        ("$0\r\n\r\n", .bulk([])),
        ("$5\r\na\r\nb\u{0}\r\n", .bulk([97, 13, 10, 98, 0])),
        ("$-1\r\n", .null),
        ("*-1\r\n", .null),
        ("*0\r\n", .array([])),
        (
            "*3\r\n:1\r\n*2\r\n$1\r\na\r\n*0\r\n$-1\r\n",
            .array([
                .integer(1), .array([.bulk([97]), .array([])]), .null,
            ])
        ),
        ("*1\r\n*1\r\n*1\r\n*1\r\n:7\r\n", .array([.array([.array([.array([.integer(7)])])])])),
    ]

    @Test(arguments: vectors)
    func `reads a whole reply`(wire: String, value: RESPValue) throws {
        let reader = RESPReader()
        try reader.feed(Array(wire.utf8))
        #expect(try reader.next() == value)
        #expect(try reader.next() == nil)
    }

    @Test func `reads replies however the bytes are cut`() throws {
        let wire = Array(Self.vectors.map(\.0).joined().utf8)
        let expected = Self.vectors.map(\.1)
        var random = SplitMix(seed: 1)
        for _ in 0..<200 {
            let reader = RESPReader()
            var got: [RESPValue] = []
            var position = 0
            while position < wire.count {
                let end = min(wire.count, position + 1 + Int(random.next() % 7))
                try reader.feed(Array(wire[position..<end]))
                position = end
                while let value = try reader.next() { got.append(value) }
            }
            #expect(got == expected)
        }
    }

    @Test func `an error reply has a code`() {
        let error = RESPServerError(message: "NOSCRIPT No matching script. Please use EVAL.")
        #expect(error.code == "NOSCRIPT")
        #expect(RESPServerError(message: "").code == "")
    }

    @Test func `refuses bytes that are not RESP`() throws {
        let reader = RESPReader()
        try reader.feed(Array("HTTP/1.1 400\r\n".utf8))
        #expect(throws: RESPError.self) { try reader.next() }
    }

    @Test func `refuses an array that is too long before it takes memory`() throws {
        let reader = RESPReader(limits: .init(elements: 10))
        try reader.feed(Array("*11\r\n".utf8))
        #expect(throws: RESPError.tooManyElements(11, limit: 10)) { try reader.next() }
    }

    @Test func `refuses more waiting bytes than allowed`() throws {
        let reader = RESPReader(limits: .init(bufferedBytes: 100))
        try reader.feed(Array("$1000\r\n".utf8))
        #expect(try reader.next() == nil)
        #expect(throws: RESPError.tooManyBytes(limit: 100)) {
            try reader.feed([UInt8](repeating: 120, count: 100))
        }
    }

    @Test func `a large bulk string arrives intact`() throws {
        let size = 5_000_000
        var content = (0..<251).map { UInt8($0) }
        while content.count < size { content += content }
        content.removeLast(content.count - size)
        let reader = RESPReader()
        try reader.feed(Array("$\(size)\r\n".utf8))
        for start in stride(from: 0, to: size, by: 65_536) {
            #expect(try reader.next() == nil)
            try reader.feed(Array(content[start..<min(size, start + 65_536)]))
        }
        try reader.feed(Array("\r\n".utf8))
        #expect(try reader.next() == .bulk(content))
    }

    @Test(arguments: 1...20) func `survives changed bytes`(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let wire = Array(Self.vectors.map(\.0).joined().utf8)
        for _ in 0..<500 {
            var bytes = wire
            for _ in 0..<(1 + random.next() % 4) {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            let reader = RESPReader(limits: .init(bufferedBytes: 4096, elements: 64))
            do {
                try reader.feed(bytes)
                while try reader.next() != nil {}
            } catch {}
        }
    }
}
