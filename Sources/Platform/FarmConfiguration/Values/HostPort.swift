/// A host name or IP address, and a port.
package struct HostPort: Sendable, Hashable, CustomStringConvertible {
    /// The host without brackets, also for an IPv6 address.
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// `host:port`. An IPv6 address is in brackets.
    package var description: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Reads `host`, `host:port`, `[::1]` or `[::1]:port`. Nil for any other text, or when the port is missing
    /// and there is no default.
    init?(_ text: some StringProtocol, defaultPort: UInt16?) {
        var rest = Substring(text)
        let host: Substring
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            host = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
            guard host.utf8.contains(UInt8(ascii: ":")), host.utf8.allSatisfy(Self.isAddressByte) else {
                return nil
            }
        } else {
            let end = rest.firstIndex(of: ":") ?? rest.endIndex
            host = rest[..<end]
            rest = rest[end...]
            guard host.utf8.allSatisfy(Self.isNameByte) else { return nil }
        }
        guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
        if rest.isEmpty {
            guard let defaultPort else { return nil }
            self.init(host: String(host), port: defaultPort)
            return
        }
        let digits = rest.dropFirst()
        guard rest.first == ":", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(foreign: digits), port > 0
        else { return nil }
        self.init(host: String(host), port: port)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || ".-_".utf8.contains(byte)
    }

    private static func isAddressByte(_ byte: UInt8) -> Bool {
        isNameByte(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "%")
    }
}

/// The address of an HTTP proxy. A CONNECT request to the proxy opens a tunnel to the gateway.
package struct ProxyAddress: Sendable, Equatable, CustomStringConvertible {
    package var hostPort: HostPort

    package var description: String { "http://\(hostPort)" }

    init(_ text: String) throws(InvalidValue) {
        guard let parts = LocatorText(text), parts.scheme == "http" else {
            throw InvalidValue("expected http://host:port of a proxy that allows CONNECT")
        }
        guard parts.query == nil, parts.path.isEmpty || parts.path == "/",
            let hostPort = HostPort(parts.authority, defaultPort: nil)
        else {
            throw InvalidValue("expected http://host:port, without a path")
        }
        guard parts.user == nil, parts.password == nil else {
            throw InvalidValue("a proxy that asks for a password is not supported")
        }
        self.hostPort = hostPort
    }
}

/// The URL that receives alerts by POST. The path of the URL may contain a secret, so no log or message shows the path.
package struct WebhookAddress: Sendable, Equatable, CustomStringConvertible {
    package let usesTLS: Bool
    package let hostPort: HostPort
    /// The path and query of the URL.
    package let target: Password

    package var description: String { "\(usesTLS ? "https" : "http")://\(hostPort)/…" }

    /// The value of the HTTP `Host` field.
    package var host: String {
        guard hostPort.port == (usesTLS ? 443 : 80) else { return "\(hostPort)" }
        return hostPort.host.contains(":") ? "[\(hostPort.host)]" : hostPort.host
    }

    init(_ text: String) throws(InvalidValue) {
        guard let parts = LocatorText(text), parts.scheme == "http" || parts.scheme == "https" else {
            throw InvalidValue("expected http://host[:port]/path or https://…")
        }
        guard parts.user == nil, parts.password == nil else {
            throw InvalidValue("a user or password in the address is not supported")
        }
        usesTLS = parts.scheme == "https"
        guard let hostPort = HostPort(parts.authority, defaultPort: usesTLS ? 443 : 80) else {
            throw InvalidValue("expected a host name or address, and an optional port, after //")
        }
        self.hostPort = hostPort
        let path = (parts.path.isEmpty ? "/" : String(parts.path)) + (parts.query.map { "?" + $0 } ?? "")
        guard path.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw InvalidValue("the path of the address contains a character that must be percent-encoded")
        }
        target = Password(path)
    }
}

/// The address on which a coordinator serves metrics and probes.
package enum MetricsAddress: Sendable, Hashable, CustomStringConvertible {
    case tcp(host: String, port: UInt16)
    case unix(String)

    package var description: String {
        switch self {
        case .tcp(let host, let port): HostPort(host: host, port: port).description
        case .unix(let path): "unix://\(path)"
        }
    }

    /// Reads `host:port`, where port 0 means any free port, or `unix:///path`.
    init(_ text: String) throws(InvalidValue) {
        if let mark = text.firstRange(of: "://") {
            let path = String(text[mark.upperBound...])
            guard text[..<mark.lowerBound] == "unix", path.hasPrefix("/"), path.count > 1 else {
                throw InvalidValue("expected host:port or unix:///path")
            }
            guard path.utf8.count <= RedisLocation.longestSocketPath else {
                throw InvalidValue("the path is too long for a socket")
            }
            self = .unix(path)
        } else if let hostPort = HostPort(text, defaultPort: nil) {
            self = .tcp(host: hostPort.host, port: hostPort.port)
        } else if text.hasSuffix(":0"), let hostPort = HostPort(text + "1", defaultPort: nil) {
            self = .tcp(host: hostPort.host, port: 0)
        } else {
            throw InvalidValue("expected host:port, such as 127.0.0.1:9750, or unix:///path")
        }
    }
}
