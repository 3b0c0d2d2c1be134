/// A file with one fault a line: `FILE<tab>OLD<tab>NEW`. OLD is a part of one line of FILE. `#` starts a comment.
package enum MutantList {
    package enum Fault: Error, CustomStringConvertible {
        case form(line: Int)
        case notOnce(line: Int, times: Int)

        package var description: String {
            switch self {
            case .form(let line): "line \(line): use FILE, OLD and NEW with a tab between them"
            case .notOnce(let line, let times):
                "line \(line): OLD stands in \(times) lines of its file, not in one"
            }
        }
    }

    /// - Parameter read: returns the text of a file.
    package static func mutants(_ text: String, read: (String) throws -> String) throws -> [SourceMutant] {
        var found: [SourceMutant] = []
        for (index, entry) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard !entry.isEmpty, !entry.hasPrefix("#") else { continue }
            let parts = entry.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, !parts[1].isEmpty else { throw Fault.form(line: index + 1) }
            let lines = try read(parts[0]).split(separator: "\n", omittingEmptySubsequences: false).map(
                String.init)
            let places = lines.indices.filter { lines[$0].contains(parts[1]) }
            guard places.count == 1 else { throw Fault.notOnce(line: index + 1, times: places.count) }
            let line = lines[places[0]]
            found.append(
                SourceMutant(
                    file: parts[0], line: places[0] + 1, original: line,
                    changed: line.replacing(parts[1], with: parts[2])))
        }
        return found
    }
}
