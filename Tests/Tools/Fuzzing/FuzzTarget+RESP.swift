import PushModel
import RESP
import RandomTesting
import RedisProtocol

extension FuzzTarget {
    static let respWords = [
        "\r\n", "$5\r\n", "$-1\r\n", "*-1\r\n", "*0\r\n", "*3\r\n", ":1\r\n", ":-1\r\n", "+OK\r\n",
        "-ERR x\r\n",
        ":9223372036854775807\r\n", ":-9223372036854775808\r\n", "$2147483647\r\n", "*1048577\r\n",
        "*2147483647\r\n",
        "$4294967296\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n",
    ]

    /// The bytes of a Redis connection, in pieces of any size.
    static let resp = FuzzTarget("resp", words: respWords) { bytes throws(Violation) in
        let limits = RESPReader.Limits(bufferedBytes: 64 << 10, elements: 256)
        let whole = RESPStream(bytes, limits: limits) { _ in bytes.count }
        var random = SplitMix(seed: XXH64.hash(bytes, seed: 0))
        let pieces = RESPStream(bytes, limits: limits) { Int(random.next() % UInt64(min($0, 40))) + 1 }
        try Violation.unless(whole.values == pieces.values, "other replies when it comes in pieces")
        try Violation.unless(
            (whole.failure == nil) == (pieces.failure == nil), "a failure depends on how it comes")
        for value in whole.values {
            guard let wire = value.wire else { continue }
            try Violation.unless(
                RESPStream(wire, limits: limits) { _ in wire.count }.values == [value],
                "written again, another reply")
        }
    }
}

/// A stream of replies, read to its end or to the first fault.
struct RESPStream {
    private(set) var values: [RESPValue] = []
    private(set) var failure: RESPError?

    /// - Parameter size: returns the size of the next piece for the number of remaining bytes.
    init(_ bytes: [UInt8], limits: RESPReader.Limits, piece size: (Int) -> Int) {
        let reader = RESPReader(limits: limits)
        var rest = bytes[...]
        do throws(RESPError) {
            while !rest.isEmpty {
                let piece = rest.prefix(size(rest.count))
                rest = rest.dropFirst(piece.count)
                try reader.feed(Array(piece))
                while let value = try reader.next() { values.append(value) }
            }
        } catch {
            failure = error
        }
    }
}

extension RESPValue {
    /// All strings in the value.
    var strings: [[UInt8]] { array?.flatMap(\.strings) ?? bytes.map { [$0] } ?? [] }

    /// The value in Redis's encoding; nil if bytes were lost because they are not UTF-8.
    var wire: [UInt8]? {
        switch self {
        case .simple(let text): text.contains("\u{FFFD}") ? nil : Array("+\(text)\r\n".utf8)
        case .error(let error): error.message.contains("\u{FFFD}") ? nil : Array("-\(error.message)\r\n".utf8)
        case .integer(let number): Array(":\(number)\r\n".utf8)
        case .bulk(let bytes): Array("$\(bytes.count)\r\n".utf8) + bytes + Array("\r\n".utf8)
        case .null: Array("$-1\r\n".utf8)
        case .array(let values):
            values.reduce(Array("*\(values.count)\r\n".utf8)) { wire, value in
                guard let wire, let more = value.wire else { return nil }
                return wire + more
            }
        }
    }
}
