/// A colour of text on a terminal.
enum Paint: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"
    case inverse = "7"

    func on(_ text: String, if allowed: Bool) -> String {
        allowed ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
