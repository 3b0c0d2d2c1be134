/// Where a coordinator answers scrapers and probes.
package enum MetricsPlace: Sendable, Hashable, CustomStringConvertible {
    case tcp(host: String, port: UInt16)
    /// The path of a socket.
    case unix(String)

    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix://\(path)"
        }
    }

    /// Reads `host:port`, of which 0 is any port, or `unix:///path`.
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
        } else if let place = HostPort(text, defaultPort: nil) {
            self = .tcp(host: place.host, port: place.port)
        } else if text.hasSuffix(":0"), let place = HostPort(text + "1", defaultPort: nil) {
            self = .tcp(host: place.host, port: 0)
        } else {
            throw InvalidValue("expected host:port, such as 127.0.0.1:9750, or unix:///path")
        }
    }
}
