/// Where alerts are sent with POST. Its path may be all that proves who may send there, so it is never shown.
package struct WebhookAddress: Sendable, Equatable, CustomStringConvertible {
    package let usesTLS: Bool
    package let place: HostPort
    /// Path and query.
    package let target: Password

    package var description: String { "\(usesTLS ? "https" : "http")://\(place)/…" }

    /// As a `Host` field has it.
    package var host: String {
        guard place.port == (usesTLS ? 443 : 80) else { return "\(place)" }
        return place.host.contains(":") ? "[\(place.host)]" : place.host
    }

    init(_ text: String) throws(InvalidValue) {
        guard let parts = LocatorText(text), parts.scheme == "http" || parts.scheme == "https" else {
            throw InvalidValue("expected http://host[:port]/path or https://…")
        }
        guard parts.user == nil, parts.password == nil else {
            throw InvalidValue("user and password are not supported")
        }
        usesTLS = parts.scheme == "https"
        guard let place = HostPort(parts.authority, defaultPort: usesTLS ? 443 : 80) else {
            throw InvalidValue("expected a host's name or address, and perhaps a port, after //")
        }
        self.place = place
        let path = (parts.path.isEmpty ? "/" : String(parts.path)) + (parts.query.map { "?" + $0 } ?? "")
        guard path.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw InvalidValue("its path holds a character that must be percent-encoded")
        }
        target = Password(path)
    }
}
