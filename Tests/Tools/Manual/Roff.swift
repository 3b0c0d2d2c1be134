/// A page for man(1), in the macros of man(7).
struct Roff {
    private(set) var text: String

    /// - Parameters:
    ///   - title: its name in capitals.
    ///   - date: ISO 8601.
    init(title: String, section: Int, date: String, source: String, manual: String) {
        text = ".TH \"\(title)\" \(section) \"\(date)\" \"\(source)\" \"\(manual)\"\n.nh\n.ad l\n"
    }

    /// A heading was the last: what follows is a paragraph already.
    private var isAtStart: Bool {
        guard let line = text.split(separator: "\n").last else { return false }
        return line.hasPrefix(".SH") || line.hasPrefix(".SS")
    }

    mutating func section(_ name: String) { text += ".SH \(name)\n" }

    mutating func subsection(_ name: String) { text += ".SS \(Self.escaped(name))\n" }

    /// Words that are markup already, in lines that are not too long for an editor.
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

    /// Each sentence on a line of its own, so that a change of one is a change of one.
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

    /// A term and what it is; several terms without a word of their own share what follows the last.
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

    /// A line that begins with a full stop or an apostrophe would be a request.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
    }

    /// Characters that mean something to roff, or that a terminal's font would make another one of.
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
