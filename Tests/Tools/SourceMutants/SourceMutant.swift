/// One small fault in one line of a Swift file.
package struct SourceMutant: Hashable, Sendable {
    /// The file's path relative to the root of the repository.
    package let file: String
    /// The line number, counted from 1.
    package let line: Int
    /// The line without the fault.
    package let original: String
    /// The line with the fault. An empty text removes the line.
    package let changed: String

    package init(file: String, line: Int, original: String, changed: String) {
        (self.file, self.line, self.original, self.changed) = (file, line, original, changed)
    }

    /// The module of the file.
    package var module: String {
        let parts = file.split(separator: "/")
        guard parts.first == "Sources", parts.count > 2 else { return "" }
        // In Sources each layer folder contains modules. The program's folder is beside the layers.
        return String(parts.count > 3 && parts[1] != "pushfarm" ? parts[2] : parts[1])
    }

    /// Applies the fault to the file's text. Returns nil if the line has changed.
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
