import FarmHarness
import Foundation
import RedisProtocol

/// Replaces the farm's values in Redis by hostile values, and restores them.
final class HostileRedis {
    private let client: BlockingRedisClient
    private var values: HostileValues
    private static let app = "demo"
    private static let backup = "hostile:backup:"
    /// The maximum of fields, elements or members of a key that one attack changes.
    private static let most = 12
    /// Valid entries for keys that a farm has only after commands of operators or after alerts.
    static let operatorEntries = [
        ["HSET", "{pushfarm:demo}:paused_tokens", "device", "1780000000000 3 me why"],
        ["HSET", "{pushfarm:demo}:cancels", "another", "1780000000000 0 0 me"],
        ["HSET", "{pushfarm}:desired", "pin:demo:3", "here"],
        ["HSET", "{pushfarm}:active_alerts", "nothing", "1 1780000000000 text"],
        ["XADD", "{pushfarm}:alerts", "*", "alert", "nothing", "at", "1780000000000"],
    ]

    init(_ client: BlockingRedisClient, seed: UInt64) {
        self.client = client
        values = HostileValues(seed: seed)
    }

    // MARK: Names

    /// The names of keys and channels in the sources and in Redis. Of keys whose names are equal up to the first digit, the
    /// result contains at most two.
    func names() throws -> [String] {
        var names = try Self.declared()
        var kinds: [Substring: Int] = [:]
        let stored = try client.run("KEYS", "*").array?.compactMap(\.text) ?? []
        for name in stored.sorted() where !name.hasPrefix("hostile:") {
            let kind = name.prefix { !$0.isNumber && $0 != "\n" }
            guard !names.contains(name), kinds[kind, default: 0] < 2 else { continue }
            kinds[kind, default: 0] += 1
            names.append(name)
        }
        return names
    }

    /// The key names in Keys.swift.
    private static func declared() throws -> [String] {
        let text = try Repository.text(of: "Sources/Core/StoreProtocol/Keys.swift")
        let own = text.matches(of: /key\("([a-z_]+)"\)/).map { "{pushfarm:\(app)}:\($0.1)" }
        let shared = text.matches(of: /"(\{pushfarm\}:[a-z_]+)"/).map { String($0.1) }
        return ["pushfarm:\(app)"] + own + shared
    }

    // MARK: Changes

    /// Saves a key, and then changes some of its parts.
    ///
    /// - Parameter round: the number of the attack. If the key does not exist, this number selects the type of the key that the
    ///   attack creates.
    func attack(_ key: String, round: Int) throws {
        let type = try client.run("TYPE", key).text ?? "none"
        if type != "none" { try client.run("COPY", key, Self.backup + key, "REPLACE") }
        switch type {
        case "hash": try attack(hash: key)
        case "list": try attack(list: key)
        case "zset": try attack(sorted: key)
        case "stream": try attack(stream: key)
        case "set": for _ in 0..<Self.most { try run(["SADD", key], values.mutant(of: Array("app".utf8))) }
        case "string": try run(["SET", key], values.mutant(of: bytes("GET", key)))
        default: try create(key, round)
        }
    }

    /// Restores the key as it was before ``attack(_:round:)``.
    func restore(_ key: String) throws {
        if try client.run("EXISTS", Self.backup + key).integer == 1 {
            try client.run("RENAME", Self.backup + key, key)
        } else {
            try client.run("DEL", key)
        }
    }

    /// Publishes hostile messages on a channel.
    func publish(_ channel: String) throws {
        for text in HostileValues.numbers + HostileValues.texts {
            try client.run("PUBLISH", channel, text)
        }
        for word in ["s", "left", "free", "feedback", "hosts", "left host"] {
            try client.run("PUBLISH", channel, "\(word) \(values.number())")
        }
        try run(["PUBLISH", channel], values.bytes(200))
    }

    private func attack(hash key: String) throws {
        let pairs = try client.run("HGETALL", key).pairs
        for _ in 0..<Self.most {
            guard let pair = pairs.randomElement(using: &values), let name = pair.name.bytes else { break }
            try run(["HSET", key], name, values.mutant(of: pair.value.bytes ?? []))
        }
        for _ in 0..<3 {
            let value = pairs.randomElement(using: &values)?.value.bytes ?? []
            try run(["HSET", key], Array(values.number().utf8), value)
            let name = pairs.randomElement(using: &values)?.name.bytes ?? []
            try run(["HSET", key], values.mutant(of: name), values.mutant(of: value))
        }
    }

    private func attack(list key: String) throws {
        let elements = try client.run("LRANGE", key, "0", "\(Self.most)").array?.compactMap(\.bytes) ?? []
        for (index, element) in elements.enumerated() where index % 2 == 0 {
            try run(["LSET", key, "\(index)"], values.mutant(of: element))
        }
        for _ in 0..<4 {
            try run(["RPUSH", key], values.mutant(of: elements.randomElement(using: &values) ?? []))
        }
    }

    private func attack(sorted key: String) throws {
        let members = try client.run("ZRANGE", key, "0", "\(Self.most)").array?.compactMap(\.bytes) ?? []
        for member in members {
            try run(["ZADD", key, values.score()], member)
            try run(["ZADD", key, values.score()], values.mutant(of: member))
        }
        try run(["ZADD", key, values.score()], values.mutant(of: []))
    }

    private func attack(stream key: String) throws {
        let entries = try client.run("XREVRANGE", key, "+", "-", "COUNT", "4").array ?? []
        for _ in 0..<Self.most {
            var command = RESPCommand("XADD", key, "*")
            let words = entries.randomElement(using: &values)?.array?.last?.array?.compactMap(\.bytes) ?? []
            for (index, word) in words.enumerated() {
                command.append(index % 2 == 0 ? word : values.mutant(of: word))
            }
            if words.isEmpty {
                command.append("e")
                command.append(values.mutant(of: []))
            }
            try client.run(command)
        }
    }

    private func create(_ key: String, _ round: Int) throws {
        switch round % 4 {
        case 0:
            for number in HostileValues.numbers.prefix(Self.most) {
                try run(["HSET", key, number], values.mutant(of: Array("1780000000000 pause who why".utf8)))
            }
        case 1: try run(["RPUSH", key], values.mutant(of: Array("00.h.6553f1000c350.12".utf8)))
        case 2: try run(["ZADD", key, values.score()], values.mutant(of: Array("07.h.1.1".utf8)))
        default: try client.run("XADD", key, "*", "e", values.text(), values.number(), values.number())
        }
    }

    private func bytes(_ words: String...) throws -> [UInt8] { try client.run(words).bytes ?? [] }

    /// Runs a command. If Redis refuses a value, such as an invalid score, the command changes nothing and this function ignores
    /// the error.
    private func run(_ words: [String], _ arguments: [UInt8]...) throws {
        var command = RESPCommand(words[0])
        for word in words.dropFirst() { command.append(word) }
        for argument in arguments { command.append(argument) }
        do { try client.run(command) } catch is RESPServerError {}
    }
}
