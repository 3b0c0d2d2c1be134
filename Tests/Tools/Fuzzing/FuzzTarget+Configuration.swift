import FarmConfiguration
import RedisClient
import Transport

extension FuzzTarget {
    /// A configuration file, YAML or JSON.
    static let configuration = FuzzTarget(
        "configuration",
        words: [
            "apps:\n  demo:\n", "    topic: ", "    key: {", "file: a.p8", "id: ABC123DEFG",
            "team: DEF123GHIJ", "certificate:",
            "gateway: https://", "proxy: http://", "redis: redis://", "rediss://u:p@", "unix:///",
            "workers: auto", "shards: 64",
            "state_dir: ", "log:\n  level: trace", "&a ", "*a", "<<: ", "? ", "!!int ", "|\n", "---\n", "...",
            "%YAML 1.1\n",
            "\"", "'", "\t", "\n  ", "[::1]", "%zz", "%00", "\u{FEFF}", "99999999999999999999", "0x7", "null",
            "~", "{", "}",
            "[", "]", "#", ": ",
        ]
    ) { bytes throws(Violation) in
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        let farm: Configuration
        do throws(ConfigurationError) {
            farm = try read(text)
        } catch {
            return try Violation.unless(
                !error.description.isEmpty && error.description.utf8.count < 4 * bytes.count + 4096,
                "too many words")
        }
        try Violation.unless((1...1024).contains(farm.shards), "\(farm.shards) shards")
        try Violation.unless(farm.stateDirectory.hasPrefix("/"), "a relative state folder")
        try Violation.unless(farm.apps.map(\.name) == farm.apps.map(\.name).sorted(), "apps out of order")
        try Violation.unless(Set(farm.apps.map(\.name)).count == farm.apps.count, "an app twice")
        try Violation.unless((try? read(text)) == farm, "read again, it is another one")
        if let redis = farm.redis { try check(redis) }
    }

    private static func read(_ text: String) throws(ConfigurationError) -> Configuration {
        try Configuration.read(text, file: "etc/farm.yaml", workingDirectory: "/srv")
    }

    /// Checks that a second parse of the Redis address gives the same address, because each Redis client parses the address.
    private static func check(_ redis: RedisLocation) throws(Violation) {
        let address: RedisAddress
        do throws(RedisAddressError) { address = try RedisAddress(redis.revealedURL()) } catch {
            throw Violation("its own address is refused: \(redis): \(error)")
        }
        let isSame =
            switch (redis.endpoint, address.endpoint) {
            case (.tcp(let place), .tcp(let host, let port)): place.host == host && place.port == port
            case (.unix(let path), .unix(let other)): path == other
            default: false
            }
        try Violation.unless(
            isSame && redis.usesTLS == address.usesTLS && redis.database == address.database
                && (redis.user ?? "") == address.user && (redis.password?.reveal() ?? "") == address.password,
            "another address: \(redis) became \(address)")
        try Violation.unless(
            redis.password == nil || redis.description.contains(":***@"), "a password is not hidden")
    }
}
