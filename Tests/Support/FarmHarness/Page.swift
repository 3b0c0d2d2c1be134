import Foundation

/// A page of the documentation, with its example programs.
package struct Page {
    package struct Missing: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    private let text: String

    /// - Parameter path: the page's path in the repository, such as `docs/jobs.md`.
    package init(_ path: String) throws {
        text = try Repository.text(of: path)
    }

    /// Returns the first code block after `headline` that has this language and contains `words`.
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
