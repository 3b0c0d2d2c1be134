/// Words that come from outside, for a terminal.
enum PlainText {
    /// Without control characters, which a terminal would obey, and not longer than so many.
    static func of(_ text: some StringProtocol, limit: Int = 80) -> String {
        var plain = ""
        for scalar in text.unicodeScalars.prefix(limit) {
            plain.unicodeScalars.append(
                scalar.value < 32 || (127..<160).contains(scalar.value) ? "?" : scalar)
        }
        return plain
    }
}
