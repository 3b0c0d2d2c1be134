import RandomTesting
import Testing

@testable import HTTP2

@Suite struct HeaderTableTests {
    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8.filter { $0 != UInt8(ascii: " ") })
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)!
        }
    }

    private static func pairs(_ fields: [(String, String)]) -> [HeaderTable.Pair] {
        fields.map { HeaderTable.Pair(name: Array($0.0.utf8), value: Array($0.1.utf8)) }
    }

    /// The examples of RFC 7541, appendix C.3 (requests) and C.5 (responses, with a table of 256 bytes): header lists in order,
    /// each with its encoding.
    static let rows: [(limit: Int, blocks: [(fields: [(String, String)], encoded: String)])] = [
        (
            4096,
            [
                (
                    [
                        (":method", "GET"), (":scheme", "http"), (":path", "/"),
                        (":authority", "www.example.com"),
                    ], "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d"
                ),
                (
                    [
                        (":method", "GET"), (":scheme", "http"), (":path", "/"),
                        (":authority", "www.example.com"), ("cache-control", "no-cache"),
                    ], "8286 84be 5808 6e6f 2d63 6163 6865"
                ),
                (
                    [
                        (":method", "GET"), (":scheme", "https"), (":path", "/index.html"),
                        (":authority", "www.example.com"), ("custom-key", "custom-value"),
                    ],
                    "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65"
                ),
            ]
        ),
        (
            256,
            [
                (
                    [
                        (":status", "302"), ("cache-control", "private"),
                        ("date", "Mon, 21 Oct 2013 20:13:21 GMT"), ("location", "https://www.example.com"),
                    ],
                    """
                    4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133
                    3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d
                    """
                ),
                (
                    [
                        (":status", "307"), ("cache-control", "private"),
                        ("date", "Mon, 21 Oct 2013 20:13:21 GMT"), ("location", "https://www.example.com"),
                    ], "4803 3330 37c1 c0bf"
                ),
                (
                    [
                        (":status", "200"), ("cache-control", "private"),
                        ("date", "Mon, 21 Oct 2013 20:13:22 GMT"), ("location", "https://www.example.com"),
                        ("content-encoding", "gzip"),
                        (
                            "set-cookie",
                            "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"
                        ),
                    ],
                    """
                    88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970
                    7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61
                    6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31
                    """
                ),
            ]
        ),
    ]

    @Test(arguments: rows.indices) func `encodes the examples of the standard`(row: Int) {
        let (limit, blocks) = Self.rows[row]
        var table = HeaderTable()
        table.lower(to: limit)
        for block in blocks {
            var encoded: [UInt8] = []
            for pair in Self.pairs(block.fields) { table.write(pair, to: &encoded) }
            #expect(encoded == Self.bytes(block.encoded.filter { !$0.isNewline }))
        }
    }

    /// The integer examples of RFC 7541, appendix C.1.
    @Test(arguments: [(10, 5, "0a"), (1337, 5, "1f9a0a"), (42, 8, "2a"), (30, 5, "1e"), (31, 5, "1f00")])
    func `encodes the integers of the standard`(number: Int, prefix: Int, encoded: String) {
        var bytes: [UInt8] = []
        HeaderTable.write(number, prefix: prefix, flags: 0, to: &bytes)
        #expect(bytes == Self.bytes(encoded))
    }

    /// The example of RFC 7541, appendix C.2.3, and fields whose names are in the static table.
    @Test(arguments: [
        ("password", "secret", "1008 7061 7373 776f 7264 0673 6563 7265 74"),
        (":path", "/x", "1402 2f78"), ("authorization", "b", "1f08 0162"),
    ])
    func `encodes a field as never indexed`(name: String, value: String, encoded: String) {
        var bytes: [UInt8] = []
        HeaderTable.writeUnindexed(Self.pairs([(name, value)])[0], to: &bytes)
        #expect(bytes == Self.bytes(encoded))
    }

    @Test func `a lower limit is announced once and a higher limit is not announced`() {
        var table = HeaderTable()
        var block: [UInt8] = []
        table.lower(to: 5000)
        table.writeLimit(to: &block)
        #expect(block == [])
        table.lower(to: 1000)
        table.lower(to: 100)
        table.writeLimit(to: &block)
        table.writeLimit(to: &block)
        #expect(block == Self.bytes("3f45"))
    }
}
