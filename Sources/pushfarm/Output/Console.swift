import FarmLogging

/// How to write text: with or without colours, and how wide.
struct TextStyle: Sendable {
    var colours = false
    /// Columns of the terminal, or nil when the output is not a terminal.
    var columns: Int?
}

/// The standard output of a command: tables for people, or one JSON document per line.
struct Console: Sendable {
    let json: Bool
    let colours: Bool
    /// The style of text for people on standard output.
    var style: TextStyle {
        TextStyle(colours: colours, columns: Terminal.columns(of: Terminal.standardOutput))
    }

    init(json: Bool) {
        self.json = json
        colours = !json && Terminal.allowsColour(on: Terminal.standardOutput)
    }

    /// Prints the document with `--json`, else the text.
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

    /// Prints a remark on standard error.
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

    /// The colour code at the start of `text`, or nil when the text starts with something else.
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
