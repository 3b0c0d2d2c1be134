/// An HTTP proxy that is asked to CONNECT to the gateway.
package struct ProxyAddress: Sendable, Equatable, CustomStringConvertible {
    package var place: HostPort

    package var description: String { "http://\(place)" }

    init(_ text: String) throws(InvalidValue) {
        guard let parts = LocatorText(text), parts.scheme == "http" else {
            throw InvalidValue("expected http://host:port of a proxy that allows CONNECT")
        }
        guard parts.query == nil, parts.path.isEmpty || parts.path == "/",
            let place = HostPort(parts.authority, defaultPort: nil)
        else {
            throw InvalidValue("expected http://host:port, without a path")
        }
        guard parts.user == nil, parts.password == nil else {
            throw InvalidValue("a proxy that asks for a password is not supported")
        }
        self.place = place
    }
}
