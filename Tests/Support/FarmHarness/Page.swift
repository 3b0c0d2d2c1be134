import Foundation

/// A page of the documentation, with the programs that stand in it.
package struct Page {
    package struct Missing: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    private let text: String

    /// - Parameter path: in the repository, such as `docs/jobs.md`.
    package init(_ path: String) throws {
        text = try Repository.text(of: path)
    }

    /// The first block of code below a headline that is in this language and holds these words.
    package func block(below headline: String = "", _ language: String, with words: String = "") throws
        -> String
    {
        let lines = text.components(separatedBy: "\n")
        let start = headline.isEmpty ? 0 : lines.firstIndex(of: headline)
        guard let start else { throw Missing(description: "no headline \(headline)") }
        var block: [String]?
        var isWanted = false
        for line in lines[start...] {
            if line.hasPrefix("```") {
                if let found = block?.joined(separator: "\n"), isWanted,
                    words.isEmpty || found.contains(words)
                {
                    return found
                }
                isWanted = block == nil && line == "```" + language
                block = block == nil ? [] : nil
            } else {
                block?.append(line)
            }
        }
        throw Missing(description: "no block of \(language) with \"\(words)\" below \"\(headline)\"")
    }
}
