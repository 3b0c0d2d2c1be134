/// A line of the sample configuration. The comments in the sample become the manual page.
enum SampleLine: Equatable {
    /// A key, commented out or not, with its value and remark.
    case entry(indent: Int, key: String, value: String, remark: String)
    /// A sentence or a part of a sentence.
    case prose(String)
    case empty

    init(_ line: String) {
        let indent = line.prefix { $0 == " " }.count
        var rest = line.dropFirst(indent)
        let isComment = rest.hasPrefix("#")
        var inner = 0
        if isComment {
            rest = rest.dropFirst()
            inner = max(0, rest.prefix { $0 == " " }.count - 1)
            rest = rest.drop { $0 == " " }
        }
        guard !rest.isEmpty else {
            self = .empty
            return
        }
        let key = rest.prefix { ("a"..."z").contains($0) || $0 == "_" }
        let behind = rest.dropFirst(key.count)
        guard !key.isEmpty, behind.hasPrefix(": ") || behind == ":" else {
            self = .prose(String(rest))
            return
        }
        let (value, remark) = Self.split(String(behind.dropFirst()))
        self = .entry(indent: indent + inner, key: String(key), value: value, remark: remark)
    }

    private static func split(_ text: String) -> (value: String, remark: String) {
        var characters = Array(" " + text)
        while characters.last == " " { characters.removeLast() }
        for index in characters.indices.dropLast() where characters[index] == "#" {
            let isRemark = characters[index - 1] == " " && characters[index + 1] == " "
            guard isRemark else { continue }
            return (trimmed(characters[..<index]), trimmed(characters[(index + 1)...]))
        }
        return (trimmed(characters[...]), "")
    }

    private static func trimmed(_ characters: ArraySlice<Character>) -> String {
        var part = characters.drop { $0 == " " }
        while part.last == " " { part.removeLast() }
        return String(part)
    }
}
