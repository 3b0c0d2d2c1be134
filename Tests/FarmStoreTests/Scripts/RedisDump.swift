import RESP

@testable import FarmStore

/// All that a Redis holds, as lines of text: times and ids of streams are masked, and moments in ids of batches numbered,
/// so that two runs of the same steps look the same.
struct RedisDump: Equatable {
    let lines: Set<String>
    /// Moments of splits, in their order; each is known by its place.
    private let moments: [String]

    static func == (one: RedisDump, other: RedisDump) -> Bool { one.lines == other.lines }

    /// - Parameter before: an earlier dump of the same Redis: its batches keep their names.
    init(_ redis: PrivateRedis, since before: RedisDump? = nil) throws {
        var lines: Set<String> = []
        for key in try redis.run("KEYS", "*").array?.compactMap(\.text) ?? [] {
            let name = Self.masked(key)
            for value in try Self.values(of: key, in: redis) { lines.insert("\(name)  \(value)") }
            let seconds = try redis.run("TTL", key).integer ?? -1
            if seconds >= 0 { lines.insert("\(name)  expires in \((seconds + 999) / 1000 * 1000) s") }
        }
        let old = before?.moments ?? []
        let found = lines.flatMap { $0.matches(of: Self.moment).map { String($0.output) } }
        let moments = old + Set(found).subtracting(old).sorted()
        self.lines = Set(lines.map { Self.named($0, moments) })
        self.moments = moments
    }

    private static var moment: Regex<Substring> { #/\.[0-9a-f]{13}\./# }

    private static func named(_ line: String, _ moments: [String]) -> String {
        line.replacing(moment) { match in
            ".split\((moments.firstIndex(of: String(match.output)) ?? -1) + 1)."
        }
    }

    /// An answer in one line, with the names that the batches have here.
    func text(_ value: RESPValue) -> String { Self.named(Self.text(value), moments) }

    /// What came and what went, sorted.
    func changes(since before: RedisDump) -> [String] {
        before.lines.subtracting(lines).sorted().map { "- " + $0 }
            + lines.subtracting(before.lines).sorted().map { "+ " + $0 }
    }

    /// Lists and streams keep their order: each element is shown with its place.
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

    private static func masked(_ text: String) -> String {
        text.replacing(#/\d{13,}-\d+/#, with: "ID").replacing(#/\d{13,}/#, with: "TIME")
    }
}
