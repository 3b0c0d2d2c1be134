/// One small fault in one line of a Swift file.
package struct SourceMutant: Hashable, Sendable {
    /// Relative to the top of the repository.
    package let file: String
    /// From 1.
    package let line: Int
    /// The whole line as it is, and with the fault; an empty one is taken out.
    package let original: String
    package let changed: String

    package init(file: String, line: Int, original: String, changed: String) {
        (self.file, self.line, self.original, self.changed) = (file, line, original, changed)
    }

    /// The module that the file belongs to.
    package var module: String {
        let parts = file.split(separator: "/")
        guard parts.first == "Sources", parts.count > 2 else { return "" }
        // A folder of Sources is a layer of modules; the program is beside them.
        return String(parts.count > 3 && parts[1] != "pushfarm" ? parts[2] : parts[1])
    }

    /// The file's text with the fault; nil if the line is not there any more.
    package func apply(to text: String) -> String? {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.indices.contains(line - 1), lines[line - 1] == original else { return nil }
        lines[line - 1] = changed
        return lines.joined(separator: "\n")
    }
}

extension SourceMutant: CustomStringConvertible {
    package var description: String {
        let change = changed.isEmpty ? "taken out" : Self.trimmed(changed)
        return "\(file):\(line): \(Self.trimmed(original)) → \(change)"
    }

    private static func trimmed(_ text: String) -> String { String(text.drop { $0 == " " }) }
}
