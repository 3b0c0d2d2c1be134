/// The parts of a help text's discussion: prose, verbatim lines and sections.
struct HelpText: Equatable {
    enum Block: Equatable {
        /// Text whose lines may be broken at other places.
        case prose(String)
        /// Examples and tables, which keep their lines.
        case literal([String])
    }

    private(set) var description: [Block] = []
    private(set) var examples: [Block] = []
    /// The text about the exit status, without the words "Exit status:".
    private(set) var status: [Block] = []

    init(_ text: String) {
        var isExample = false
        for paragraph in Self.paragraphs(text) {
            if ["Example:", "Examples:"].contains(paragraph.first) {
                let rest = Array(paragraph.dropFirst())
                if !rest.isEmpty { examples.append(Self.block(rest)) }
                isExample = rest.isEmpty
                continue
            }
            let block = Self.block(paragraph)
            if isExample, case .literal = block {
                examples.append(block)
            } else if case .prose(let prose) = block, prose.hasPrefix("Exit status: ") {
                status.append(.prose(String(prose.dropFirst("Exit status: ".count))))
            } else {
                description.append(block)
            }
            isExample = false
        }
    }

    /// Splits a text at its empty lines.
    private static func paragraphs(_ text: String) -> [[String]] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            .split { $0.allSatisfy(\.isWhitespace) }.map(Array.init)
    }

    /// Keeps the lines of a paragraph if one of them is indented or has columns. Makes prose of any other paragraph.
    private static func block(_ lines: [String]) -> Block {
        let isLiteral = lines.contains { line in
            line.hasPrefix("  ") || line.drop { $0 == " " }.contains("   ")
        }
        guard isLiteral else { return .prose(lines.joined(separator: " ")) }
        let indent = lines.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return .literal(lines.map { String($0.dropFirst(indent)) })
    }
}
