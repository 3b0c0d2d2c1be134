/// A colour of text on a terminal.
enum Paint: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"
    case inverse = "7"

    /// The code with which `text` begins, if it is one of paint.
    static func code(at text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView? {
        guard text.starts(with: "\u{1B}[".unicodeScalars) else { return nil }
        let digits = text.dropFirst(2).prefix { ("0"..."9").contains($0) }
        guard digits.count <= 2, digits.endIndex < text.endIndex, text[digits.endIndex] == "m" else {
            return nil
        }
        return text[...digits.endIndex]
    }

    func on(_ text: String, if allowed: Bool) -> String {
        allowed ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
