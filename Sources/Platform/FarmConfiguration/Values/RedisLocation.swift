/// The address and the login of Redis.
///
/// Forms: `redis://[[user]:password@]host[:port][/database]`, `rediss://…` (TLS), `unix://[user:password@]/path[?db=N]`.
package struct RedisLocation: Sendable, Equatable, CustomStringConvertible {
    package enum Endpoint: Sendable, Hashable {
        case tcp(HostPort)
        case unix(String)
    }

    package var endpoint: Endpoint
    package var usesTLS = false
    package var user: String?
    package var password: Password?
    package var database = 0
    /// A file of trusted certificates, which replace the system's roots; only with TLS.
    package var caFile: String?

    package init(_ endpoint: Endpoint) {
        self.endpoint = endpoint
    }

    /// The address that is used when no Redis is configured and no private Redis is running.
    package static let local = RedisLocation(.tcp(HostPort(host: "127.0.0.1", port: 6379)))

    /// The address as a URL with the password hidden.
    package var description: String {
        var credentials = user ?? ""
        if password != nil { credentials += ":***" }
        if !credentials.isEmpty { credentials += "@" }
        return switch endpoint {
        case .tcp(let hostPort): "\(usesTLS ? "rediss" : "redis")://\(credentials)\(hostPort)/\(database)"
        case .unix(let path): "unix://\(credentials)\(path)" + (database == 0 ? "" : "?db=\(database)")
        }
    }
}

extension RedisLocation {
    /// The address as a URL with the real password, which ``init(_:relativeTo:)`` reads. Send this text only over a private
    /// channel.
    package func revealedURL() -> String {
        var credentials = Self.encoded(user ?? "")
        if let password { credentials += ":" + Self.encoded(password.reveal()) }
        if !credentials.isEmpty { credentials += "@" }
        return switch endpoint {
        case .tcp(let hostPort): "\(usesTLS ? "rediss" : "redis")://\(credentials)\(hostPort)/\(database)"
        case .unix(let path):
            "unix://\(credentials)\(Self.encoded(path, butNot: "/"))"
                + (database == 0 ? "" : "?db=\(database)")
        }
    }

    /// Percent-encodes all characters except RFC 3986's unreserved characters and `mark`.
    private static func encoded(_ text: String, butNot mark: Unicode.Scalar? = nil) -> String {
        var encoded = ""
        for byte in text.utf8 {
            if byte.isLetterOrDigit || "-._~".utf8.contains(byte) || mark == Unicode.Scalar(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let hex = String(byte, radix: 16, uppercase: true)
                encoded += (hex.utf8.count == 1 ? "%0" : "%") + hex
            }
        }
        return encoded
    }

    /// The length in bytes of the longest path that fits into a socket address (`sun_path`) on every supported system.
    package static let longestSocketPath = 103

    /// - Parameter folder: the folder for a relative socket path.
    /// - Throws: a message that does not quote `text`, because `text` may contain a password.
    init(_ text: String, relativeTo folder: String) throws(InvalidValue) {
        guard let parts = LocatorText(text) else {
            throw InvalidValue("expected redis://host:port/0, rediss://… or unix:///path/redis.sock")
        }
        switch parts.scheme {
        case "redis", "rediss":
            guard let hostPort = HostPort(parts.authority, defaultPort: 6379) else {
                throw InvalidValue("the Redis address has no valid host and port")
            }
            self.init(.tcp(hostPort))
            usesTLS = parts.scheme == "rediss"
            guard parts.query == nil else {
                throw InvalidValue("a Redis address with a host cannot have options after \"?\"")
            }
            database = try Self.database(parts.path.dropFirst())
        case "unix":
            guard let written = LocatorText.decoded(parts.authority + parts.path), !written.utf8.contains(0)
            else {
                throw InvalidValue("the socket's path has an invalid escape with \"%\"")
            }
            guard !written.isEmpty, !written.hasSuffix("/") else {
                throw InvalidValue(
                    "the Redis address has no path of a socket: expected unix:///path/redis.sock")
            }
            let path = FilePathText.resolve(written, in: folder)
            guard path.utf8.count <= Self.longestSocketPath else {
                throw InvalidValue("the socket's path is longer than \(Self.longestSocketPath) bytes")
            }
            self.init(.unix(path))
            if let query = parts.query {
                guard query.hasPrefix("db=") else {
                    throw InvalidValue("an address with unix:// can have only the option ?db=N")
                }
                database = try Self.database(query.dropFirst(3))
            }
        default:
            throw InvalidValue("expected redis://, rediss:// or unix://, found \(parts.scheme)://")
        }
        user = parts.user
        password = parts.password.map(Password.init)
    }

    private static func database(_ text: Substring) throws(InvalidValue) -> Int {
        if text.isEmpty { return 0 }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(foreign: text),
            number <= 65_535
        else {
            throw InvalidValue("the Redis database must be a number")
        }
        return number
    }
}
