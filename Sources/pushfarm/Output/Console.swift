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
