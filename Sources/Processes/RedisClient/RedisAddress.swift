package import Transport

/// The address of a Redis, with its credentials: `redis://[[user]:password@]host[:port][/db]`, `rediss://…`,
/// `unix://[[user]:password@]/path[?db=N]`.
package struct RedisAddress: Hashable, Sendable {
    package var endpoint: Endpoint
    package var usesTLS = false
    /// The Redis user; empty for the default user.
    package var user = ""
    /// The password, which never appears in a description, an error or a log.
    package var password = ""
    package var database = 0

    package init(endpoint: Endpoint) { self.endpoint = endpoint }

    /// Parses a URL. A thrown error names the fault, but contains no part of the URL that may be secret.
    package init(_ url: String) throws(RedisAddressError) {
        guard let mark = url.firstRange(of: "://") else { throw .noScheme }
        let scheme = url[..<mark.lowerBound]
        var rest = url[mark.upperBound...]
        let credentials = Self.takeCredentials(&rest)
        switch scheme {
        case "redis", "rediss":
            var database = 0
            if let slash = rest.firstIndex(of: "/") {
                database = try Self.database(rest[rest.index(after: slash)...])
                rest = rest[..<slash]
            }
            self.init(endpoint: try Self.tcp(rest))
            usesTLS = scheme == "rediss"
            self.database = database
        case "unix":
            var database = 0
            if let query = rest.firstIndex(of: "?") {
                let words = rest[rest.index(after: query)...].split(separator: "=", maxSplits: 1)
                guard words.count == 2, words[0] == "db" else { throw .badDatabase }
                database = try Self.database(words[1])
                rest = rest[..<query]
            }
            guard rest.hasPrefix("/"), let path = Self.decode(rest), !path.utf8.contains(0) else {
                throw .badPath
            }
            self.init(endpoint: .unix(path: path))
            self.database = database
        default: throw .unknownScheme(String(scheme.prefix(20)))
        }
        guard let credentials else { return }
        guard let user = Self.decode(credentials.user), let password = Self.decode(credentials.password)
        else {
            throw .badCredentials
        }
        (self.user, self.password) = (user, password)
    }

    private static func takeCredentials(_ rest: inout Substring) -> (user: Substring, password: Substring)? {
        // A path may contain "@", so only the part before the first "/" is searched for credentials.
        let authority = rest.prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return nil }
        let userinfo = authority[..<at]
        rest = rest[rest.index(after: at)...]
        guard let colon = userinfo.firstIndex(of: ":") else { return (userinfo, "") }
        return (userinfo[..<colon], userinfo[userinfo.index(after: colon)...])
    }

    private static func tcp(_ authority: Substring) throws(RedisAddressError) -> Endpoint {
        var (host, port) = (authority, UInt16(6379))
        let afterHost = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : authority.startIndex
        guard let afterHost else { throw .badHost }
        if let colon = authority[afterHost...].lastIndex(of: ":") {
            guard let number = UInt16(foreign: authority[authority.index(after: colon)...]), number > 0 else {
                throw .badPort
            }
            (host, port) = (authority[..<colon], number)
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || "[]@/".contains($0) }) else {
            throw .badHost
        }
        return .tcp(host: String(host), port: port)
    }

    private static func database(_ text: Substring) throws(RedisAddressError) -> Int {
        if text.isEmpty { return 0 }
        guard let number = Int(foreign: text), (0...65_535).contains(number) else { throw .badDatabase }
        return number
    }

    /// Decodes percent encoding.
    private static func decode(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let digits = String(rest.prefix(2)), digits.count == 2,
                let value = UInt8(foreign: digits, radix: 16)
            else { return nil }
            rest = rest.dropFirst(2)
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// The fault of an invalid Redis URL.
package enum RedisAddressError: Error, Equatable, Sendable, CustomStringConvertible {
    case noScheme
    case unknownScheme(String)
    case badHost
    case badPort
    case badPath
    case badDatabase
    case badCredentials

    package var description: String {
        switch self {
        case .noScheme: "a Redis address begins with redis://, rediss:// or unix://"
        case .unknownScheme(let scheme): "unknown scheme \(scheme)://; known are redis, rediss and unix"
        case .badHost: "the host is missing or malformed"
        case .badPort: "the port is not a number from 1 to 65535"
        case .badPath: "a unix:// address needs an absolute path"
        case .badDatabase: "the database is not a number"
        case .badCredentials: "the user or the password is not well percent-encoded"
        }
    }
}

extension RedisAddress: CustomStringConvertible {
    /// The address without user and password.
    package var description: String {
        switch endpoint {
        case .unix(let path): "unix://\(path)" + (database == 0 ? "" : "?db=\(database)")
        case .tcp: "\(usesTLS ? "rediss" : "redis")://\(endpoint)/\(database)"
        }
    }
}

extension RedisAddress: CustomDebugStringConvertible, CustomReflectable {
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [("address", description)]) }
}
