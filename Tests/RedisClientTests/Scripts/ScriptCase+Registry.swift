@testable import RedisClient
@testable import StoreProtocol

/// Calls of the script that changes a partition of a registry.
extension ScriptCase {
    private static let partition = "{pushfarm:demo:r03}:"

    private static func apply(_ version: Int, _ words: String...) -> [String] {
        ["1", partition, "\(version)", "call"] + words
    }

    static let registry = [
        ScriptCase(.applyChanges, "applies each command to a new partition", again: .same) { _ in
            apply(
                0, "HSET", "dev:0", "4", "5", "five", "6", "six", "SET", "bits:1:0", "1", "abcd", "SETRANGE",
                "bits:2:0", "2", "2", "xy", "BITFIELD", "bits:3:0", "8", "SET", "u1", "1", "1", "SET", "u1",
                "7", "1", "ZADD", "free", "4", "100", "7", "200", "8")
        },
        ScriptCase(.applyChanges, "removes fields, members and keys", again: .same) { fixture in
            try fixture.redis.run(
                "HSET", partition + "meta", "version", "41", "did", "other", "devices", "3")
            try fixture.redis.run("HSET", partition + "dev:0", "5", "five", "6", "six", "7", "seven")
            try fixture.redis.run("SET", partition + "bits:1:0", "ab")
            try fixture.redis.run("ZADD", partition + "free", "100", "7", "200", "8")
            return apply(
                41, "HDEL", "dev:0", "2", "5", "7", "DEL", "bits:1:0", "0", "ZREM", "free", "1", "8", "HSET",
                "meta", "2", "devices", "1")
        },
        ScriptCase(.applyChanges, "gives a partition a new version without other changes", again: .same) {
            fixture in
            try fixture.redis.run("HSET", partition + "meta", "version", "41", "did", "other")
            return apply(41)
        },
        ScriptCase(
            .applyChanges, "changes nothing when another call has changed the partition",
            again: .refused("error STALE 42")
        ) { fixture in
            try fixture.redis.run("HSET", partition + "meta", "version", "42", "did", "other")
            return apply(41, "HSET", "dev:0", "2", "5", "five")
        },
        ScriptCase(
            .applyChanges, "changes nothing when Redis has lost changes", again: .refused("error STALE 40")
        ) { fixture in
            try fixture.redis.run("HSET", partition + "meta", "version", "40", "did", "call")
            return apply(41, "HSET", "dev:0", "2", "5", "five")
        },
        ScriptCase(
            .applyChanges, "refuses all changes if one has an unknown command",
            again: .refused("error ERR not a change: FLUSHALL")
        ) { _ in
            apply(0, "HSET", "dev:0", "2", "5", "five", "FLUSHALL", "x", "0")
        },
        ScriptCase(
            .applyChanges, "refuses all changes if the last one lacks words",
            again: .refused("error ERR not a change: HSET")
        ) { _ in
            apply(0, "DEL", "bits:1:0", "0", "HSET", "dev:0", "2", "5")
        },
        ScriptCase(
            .applyChanges, "refuses a change without a number of words",
            again: .refused("error ERR not a change: DEL")
        ) { _ in
            apply(0, "DEL", "bits:1:0")
        },
    ]
}
