/// Makes text from outside safe for a terminal.
enum PlainText {
    /// The text without control characters, which could control the terminal. A text longer than `limit` is cut and ends in
    /// "…".
    static func of(_ text: some StringProtocol, limit: Int = 80) -> String {
        let scalars = text.unicodeScalars
        let isCut = !scalars.dropFirst(limit).isEmpty
        var plain = ""
        for scalar in scalars.prefix(isCut ? max(0, limit - 1) : limit) {
            plain.unicodeScalars.append(isControl(scalar) ? "?" : scalar)
        }
        return isCut ? plain + "…" : plain
    }

    /// The text in at most this many columns, with one column per character. A text that is cut ends in "…".
    static func cut(_ text: String, to columns: Int) -> String {
        text.count > columns ? String(text.prefix(max(0, columns - 1))) + (columns > 0 ? "…" : "") : text
    }

    /// The text in lines of at most this many columns. Lines break at spaces, and a longer word is broken anywhere.
    static func wrapped(_ text: String, to columns: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            var rest = word
            if lines[lines.count - 1].count + 1 + rest.count > columns, !lines[lines.count - 1].isEmpty {
                lines.append("")
            }
            while rest.count > columns {
                lines[lines.count - 1] = String(rest.prefix(columns))
                rest = rest.dropFirst(columns)
                lines.append("")
            }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + rest
        }
        return lines
    }

    /// A text of many lines that is safe for a terminal. Of all control characters, only line feeds and ``Paint`` codes are
    /// kept.
    static func screened(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { isControl($0) && $0 != "\n" }) else { return text }
        var (plain, rest) = (String.UnicodeScalarView(), text.unicodeScalars[...])
        while let scalar = rest.first {
            if let code = Paint.code(at: rest) {
                plain.append(contentsOf: code)
                rest = rest[code.endIndex...]
                continue
            }
            plain.append(isControl(scalar) && scalar != "\n" ? "?" : scalar)
            rest = rest.dropFirst()
        }
        return String(plain)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 32 || (127..<160).contains(scalar.value)
    }
}

extension String {
    func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
