import FarmLogging

/// How text is written: with colours or without, and how wide.
struct TextStyle: Sendable {
    var colours = false
    /// Columns of the terminal; nil when the output is not a terminal.
    var columns: Int?
}

/// Standard output of a command: tables for people, or one JSON document a line.
struct Console: Sendable {
    let json: Bool
    let colours: Bool
    /// How text for people is written there.
    var style: TextStyle {
        TextStyle(colours: colours, columns: Terminal.columns(of: Terminal.standardOutput))
    }

    init(json: Bool) {
        self.json = json
        colours = !json && Terminal.allowsColour(on: Terminal.standardOutput)
    }

    /// Prints the one that was asked for.
    func show(_ document: @autoclosure () -> JSONValue, _ text: @autoclosure () -> String) {
        Terminal.write(
            json ? document().description + "\n" : PlainText.screened(text()), to: Terminal.standardOutput)
    }

    /// Prints a line for people only.
    func say(_ text: String, _ paint: Paint? = nil) {
        guard !json else { return }
        let plain = PlainText.screened(text)
        Terminal.write((paint?.on(plain, if: colours) ?? plain) + "\n", to: Terminal.standardOutput)
    }

    /// Prints a line beside the answer, on standard error.
    func note(_ text: String) {
        Terminal.write(PlainText.screened(text) + "\n", to: Terminal.standardError)
    }
}

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
