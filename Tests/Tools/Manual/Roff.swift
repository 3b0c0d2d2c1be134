/// Builds a page for man(1) with the macros of man(7).
struct Roff {
    private(set) var text: String

    /// - Parameters:
    ///   - title: the page's name in capitals.
    ///   - date: the date in ISO 8601.
    init(title: String, section: Int, date: String, source: String, manual: String) {
        text = ".TH \"\(title)\" \(section) \"\(date)\" \"\(source)\" \"\(manual)\"\n.nh\n.ad l\n"
    }

    /// Whether the last line is a heading. Text that follows a heading needs no macro to begin a paragraph.
    private var isAtStart: Bool {
        guard let line = text.split(separator: "\n").last else { return false }
        return line.hasPrefix(".SH") || line.hasPrefix(".SS")
    }

    mutating func section(_ name: String) { text += ".SH \(name)\n" }

    mutating func subsection(_ name: String) { text += ".SS \(Self.escaped(name))\n" }

    /// Appends words with markup, in lines that are not too long for an editor.
    mutating func markup(_ words: String) {
        for line in words.split(separator: "\n") {
            var row = ""
            for word in line.split(separator: " ") {
                if !row.isEmpty, row.utf8.count + 1 + word.utf8.count > Self.longestLine {
                    text += Self.guarded(row) + "\n"
                    row = ""
                }
                row += (row.isEmpty ? "" : " ") + word
            }
            text += Self.guarded(row) + "\n"
        }
    }

    private static let longestLine = 78

    mutating func request(_ line: String) { text += line + "\n" }

    mutating func paragraph(_ prose: String) {
        begin()
        self.prose(prose)
    }

    /// Appends text with one line for each sentence, so that a changed sentence changes one line.
    mutating func prose(_ prose: String) {
        for sentence in Self.sentences(prose) { markup(Self.escaped(sentence)) }
    }

    private mutating func begin() {
        if !isAtStart { text += ".PP\n" }
    }

    mutating func literal(_ lines: [String]) {
        begin()
        text += ".RS 4\n.EX\n"
        for line in lines { text += Self.guarded(Self.escaped(line)) + "\n" }
        text += ".EE\n.RE\n"
    }

    /// Appends a term with its explanation. A term without an explanation shares the explanation of the next term.
    mutating func item(_ markup: String, _ prose: String) {
        text += ".TP\n" + Self.guarded(markup) + "\n"
        if prose.isEmpty { text += "\\&\n" } else { self.prose(prose) }
    }

    mutating func blocks(_ blocks: [HelpText.Block]) {
        for block in blocks {
            switch block {
            case .prose(let prose): paragraph(prose)
            case .literal(let lines): literal(lines)
            }
        }
    }

    static func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fR" }
    static func italic(_ text: String) -> String { "\\fI\(escaped(text))\\fR" }

    /// Protects a line that begins with a full stop or an apostrophe, which roff would read as a request.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
    }

    /// Escapes characters that have a meaning in roff, or that a terminal would show as another character.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "~": result += "\\(ti"
            case "^": result += "\\(ha"
            case "`": result += "\\(ga"
            case "'": result += "\\(aq"
            case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
            default: result += "\\[u\(hexadecimal(scalar.value))]"
            }
        }
        return result
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    private static func sentences(_ prose: String) -> [String] {
        let words = prose.split(separator: " ")
        var sentences: [String] = []
        var sentence = ""
        for (index, word) in words.enumerated() {
            sentence += (sentence.isEmpty ? "" : " ") + word
            let next = index + 1 < words.count ? words[index + 1].first : nil
            guard ".?!".contains(word.last ?? " "), !word.hasSuffix("..."), next?.isUppercase ?? true else {
                continue
            }
            sentences.append(sentence)
            sentence = ""
        }
        return sentence.isEmpty ? sentences : sentences + [sentence]
    }
}
