/// Finds possible faults in a Swift file: negated conditions, changed constants, removed calls.
///
/// The finder searches lines for patterns and does not parse Swift. So some faults do not compile, and ``MutantRun`` does not
/// count them. The finder skips lines without effect on behaviour (logs, comments, preconditions).
package struct MutantFinder {
    private let file: String
    private let lines: [String]

    package init(file: String, text: String) {
        self.file = file
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    package func mutants() -> [SourceMutant] {
        lines.indices.flatMap { index -> [SourceMutant] in
            guard Self.isCode(lines[index]) else { return [] }
            var changed = Self.conditions(lines[index]) + Self.constants(lines[index])
            if isCall(index) { changed.append("") }
            return changed.map {
                SourceMutant(file: file, line: index + 1, original: lines[index], changed: $0)
            }
        }
    }

    private static let silent = [
        "//", "import ", "package import ", "@", "#", "precondition", "assert", "fatalError", "log.", "case ",
        "\"",
    ]
    private static let telling = [
        "metadata:", "log.", "Logger", "preconditionFailure", "description", "abstract:", "help:",
    ]

    private static func isCode(_ line: String) -> Bool {
        let text = line.drop { $0 == " " }
        return !text.isEmpty && !silent.contains { text.hasPrefix($0) }
            && !telling.contains { line.contains($0) }
    }

    // MARK: Conditions

    private static let operators = [
        (" && ", " || "), (" || ", " && "), (" < ", " <= "), (" <= ", " < "), (" > ", " >= "),
        (" >= ", " > "),
        (" == ", " != "), (" != ", " == "), ("true", "false"), ("false", "true"),
    ]

    private static func conditions(_ line: String) -> [String] {
        var changed = negations(line)
        for (old, new) in operators {
            for range in places(of: old, in: line) { changed.append(line.replacing(range, with: new)) }
        }
        return changed
    }

    /// Negates the condition of an `if`, `guard` or `while` line when the condition is a single expression.
    private static func negations(_ line: String) -> [String] {
        for (start, end) in [("guard ", " else"), ("if ", " {"), ("while ", " {")] {
            let text = line.drop { $0 == " " }
            guard text.hasPrefix(start), let close = text.range(ofFirst: end) else { continue }
            let condition = text[text.index(text.startIndex, offsetBy: start.count)..<close.lowerBound]
            let isSingle =
                !condition.contains(",") && !condition.contains("let ") && !condition.contains("case ")
            guard isSingle, !condition.isEmpty else { continue }
            let indent = line.prefix { $0 == " " }
            return ["\(indent)\(start)!(\(condition))\(text[close.lowerBound...])"]
        }
        return []
    }

    // MARK: Constants

    /// Increments whole numbers by one.
    private static func constants(_ line: String) -> [String] {
        var changed: [String] = []
        var index = line.startIndex
        var before: Character = " "
        var isText = false
        while index < line.endIndex {
            let character = line[index]
            if character == "\"" { isText.toggle() }
            if !isText, character.isNumber, !before.isLetter, !before.isNumber, !"_$.\"".contains(before) {
                let end = line[index...].firstIndex { !$0.isNumber && $0 != "_" } ?? line.endIndex
                let isWhole = end == line.endIndex || !(line[end].isLetter || line[end] == "(")
                if isWhole, let number = Int(line[index..<end].filter { $0 != "_" }) {
                    changed.append(line.replacing(index..<end, with: "\(number + 1)"))
                }
                before = "0"
                index = end
                continue
            }
            before = character
            index = line.index(after: index)
        }
        return changed
    }

    // MARK: Calls

    private static let notCalls = [
        "let ", "var ", "return", "if ", "guard ", "for ", "while ", "switch ", "throw ", "func ", "init",
        "self.init",
        "super.", "defer", "do ", "} ", "package ", "private ", "static ", "mutating ", ".", "_ =",
    ]

    /// Whether a line contains only a call or only a change of a number.
    private func isCall(_ index: Int) -> Bool {
        let text = Self.trimmed(lines[index])
        guard !Self.notCalls.contains(where: { text.hasPrefix($0) }) else { return false }
        let isStatement =
            text.contains(" += ") || text.contains(" -= ") || text.hasSuffix(")") && text.contains("(")
        guard isStatement, Self.isBalanced(text) else { return false }
        let previous = index > 0 ? Self.trimmed(lines[index - 1]) : "{"
        let next = index + 1 < lines.count ? Self.trimmed(lines[index + 1]) : ""
        let begins =
            previous.isEmpty || previous.hasSuffix("{") || previous.hasSuffix(")") || previous.hasSuffix("}")
            || previous.hasSuffix(" in")
        return begins && !next.hasPrefix(".") && !next.hasPrefix("?") && !text.hasSuffix(",")
    }

    private static func isBalanced(_ text: String) -> Bool {
        var depth = 0
        for character in text {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if depth < 0 { return false }
        }
        return depth == 0
    }

    private static func trimmed(_ line: String) -> String {
        String(line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// The places outside string literals where a word or an operator stands alone.
    private static func places(of word: String, in line: String) -> [Range<String.Index>] {
        line.ranges(of: word).filter { range in
            guard line[..<range.lowerBound].count(where: { $0 == "\"" }).isMultiple(of: 2) else {
                return false
            }
            guard word.first != " " else { return true }
            let before = range.lowerBound > line.startIndex ? line[line.index(before: range.lowerBound)] : " "
            let after = range.upperBound < line.endIndex ? line[range.upperBound] : " "
            return !before.isLetter && !after.isLetter
        }
    }
}

extension StringProtocol {
    fileprivate func range(ofFirst word: String) -> Range<Index>? { ranges(of: word).first }
}

extension String {
    fileprivate func replacing(_ range: Range<Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}
