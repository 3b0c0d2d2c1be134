import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// All data of a Redis as lines of text.
/// Times and ids of stream entries are masked, and the times of splits in batch ids are replaced by numbers, so that two runs of
/// the same steps give the same text.
struct RedisDump: Equatable {
    let lines: Set<String>
    /// The times of splits in batch ids, in order. In the text, the place of a time in this list replaces the time.
    private let moments: [String]

    static func == (one: RedisDump, other: RedisDump) -> Bool { one.lines == other.lines }

    /// - Parameter before: an earlier dump of the same Redis. Batches have the same names as in this earlier dump.
    init(_ redis: PrivateRedis, since before: RedisDump? = nil) throws {
        var lines: Set<String> = []
        for key in try redis.run("KEYS", "*").array?.compactMap(\.text) ?? [] {
            let name = Self.masked(key)
            for value in try Self.values(of: key, in: redis) { lines.insert("\(name)  \(value)") }
            let seconds = try redis.run("TTL", key).integer ?? -1
            if seconds >= 0 { lines.insert("\(name)  expires in \((seconds + 999) / 1000 * 1000) s") }
        }
        let old = before?.moments ?? []
        let found = lines.flatMap { Self.parts(of: $0).filter(Self.isMoment).map(String.init) }
        let moments = old + Set(found).subtracting(old).sorted()
        self.lines = Set(lines.map { Self.named($0, moments) })
        self.moments = moments
    }

    /// The parts of a line between its dots.
    private static func parts(of line: String) -> [Substring] {
        line.split(separator: ".", omittingEmptySubsequences: false)
    }

    /// Whether a part of a batch id is a moment: microseconds in 13 hexadecimal digits.
    private static func isMoment(_ part: Substring) -> Bool {
        part.utf8.count == 13
            && part.utf8.allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
            }
    }

    private static func named(_ line: String, _ moments: [String]) -> String {
        parts(of: line).map { part in
            isMoment(part) ? "split\((moments.firstIndex(of: String(part)) ?? -1) + 1)" : String(part)
        }.joined(separator: ".")
    }

    /// A reply as one line, with the batch names of this dump.
    func text(_ value: RESPValue) -> String { Self.named(Self.text(value), moments) }

    /// The added and removed lines, sorted.
    func changes(since before: RedisDump) -> [String] {
        before.lines.subtracting(lines).sorted().map { "- " + $0 }
            + lines.subtracting(before.lines).sorted().map { "+ " + $0 }
    }

    /// Returns the elements of a key as text. Elements of lists and streams are in order, each with its position.
    private static func values(of key: String, in redis: PrivateRedis) throws -> [String] {
        func numbered(_ value: RESPValue) -> [String] {
            (value.array ?? []).enumerated().map { "\($0.offset): \(text($0.element))" }
        }
        func pairs(_ value: RESPValue) -> [String] {
            let parts = (value.array ?? []).map(text)
            return stride(from: 0, to: parts.count - 1, by: 2).map { "\(parts[$0]) = \(parts[$0 + 1])" }
        }
        switch try redis.run("TYPE", key).text {
        case "string": return [text(try redis.run("GET", key))]
        case "hash": return pairs(try redis.run("HGETALL", key))
        case "list": return numbered(try redis.run("LRANGE", key, "0", "-1"))
        case "set": return (try redis.run("SMEMBERS", key).array ?? []).map(text)
        case "zset": return pairs(try redis.run("ZRANGE", key, "0", "-1", "WITHSCORES"))
        case "stream":
            let groups = try redis.run("XINFO", "GROUPS", key).array ?? []
            return numbered(try redis.run("XRANGE", key, "-", "+"))
                + groups.compactMap { group in
                    guard let words = group.array, words.count > 7 else { return nil }
                    return "group \(text(words[1])): \(text(words[5])) pending, read to \(text(words[7]))"
                }
        case let type: return ["of an unknown type: \(type ?? "none")"]
        }
    }

    private static func text(_ value: RESPValue) -> String {
        if let error = value.error { return "error " + masked(error.message) }
        if let parts = value.array { return "[" + parts.map(text).joined(separator: ", ") + "]" }
        if let number = value.integer { return masked("\(number)") }
        guard let bytes = value.bytes else { return "null" }
        if bytes.count > 200 { return "\(bytes.count) bytes" }
        let escaped = bytes.map { byte in
            (32..<127).contains(byte) ? String(UnicodeScalar(byte)) : "\\" + String(byte, radix: 16)
        }
        return masked(escaped.joined())
    }

    /// Masks numbers of at least 13 digits, which are times or ids of stream entries.
    ///
    /// The time in a batch id stays unmasked, even if it contains only decimal digits.
    /// The loop replaces a regular expression, which would be too slow.
    private static func masked(_ text: String) -> String {
        let (bytes, dot) = (Array(text.utf8), UInt8(ascii: "."))
        func digitsEnd(from start: Int) -> Int {
            bytes[start...].firstIndex { !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0) } ?? bytes.count
        }
        var (masked, at): ([UInt8], Int) = ([], 0)
        while at < bytes.count {
            let end = digitsEnd(from: at)
            let isMoment =
                end - at == 13 && at > 0 && bytes[at - 1] == dot && end < bytes.count && bytes[end] == dot
            if end - at < 13 || isMoment {
                let next = max(end, at + 1)
                masked += bytes[at..<next]
                at = next
                continue
            }
            let hasSequence = end < bytes.count && bytes[end] == UInt8(ascii: "-")
            let last = hasSequence ? digitsEnd(from: end + 1) : end
            masked += Array((last > end + 1 ? "ID" : "TIME").utf8)
            at = last > end + 1 ? last : end
        }
        return String(decoding: masked, as: UTF8.self)
    }
}
