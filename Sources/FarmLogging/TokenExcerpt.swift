/// A device token as a log may show it: its first 8 hex characters and `…`. A token in full is never logged.
package struct TokenExcerpt: Sendable, Equatable, CustomStringConvertible {
    package let description: String

    /// - Parameter hex: the token as hex text.
    package init(hex: some StringProtocol) {
        description = hex.unicodeScalars.count > 8 ? String(hex.prefix(8)) + "…" : "…"
    }

    /// - Parameter bytes: the token itself.
    package init(bytes: some Collection<UInt8>) {
        guard bytes.count > 4 else {
            description = "…"
            return
        }
        var text = ""
        for byte in bytes.prefix(4) {
            text += String(byte >> 4, radix: 16)
            text += String(byte & 15, radix: 16)
        }
        description = text + "…"
    }
}
