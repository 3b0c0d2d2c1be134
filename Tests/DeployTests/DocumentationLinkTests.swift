import Foundation
import Testing

/// Checks the links between the Markdown pages.
struct DocumentationLinkTests {
    private static let root = DeployFolder.root

    private static var pages: [String] {
        get throws {
            let docs = try #require(FileManager.default.enumerator(atPath: root.path + "/docs"))
            return ["README.md", "CHANGELOG.md", "SECURITY.md"].filter {
                FileManager.default.fileExists(atPath: root.path + "/" + $0)
            } + docs.compactMap { $0 as? String }.filter { $0.hasSuffix(".md") }.sorted().map { "docs/" + $0 }
        }
    }

    /// The anchors of a page's headings.
    private static func anchors(_ text: String) -> Set<String> {
        Set(
            text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                    .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == " " }
                    .replacing(" ", with: "-")
            })
    }

    @Test func `each link names an existing file and an existing heading`() throws {
        var count = 0
        for page in try Self.pages {
            let text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
            for link in text.matches(of: /\]\(([^)\s]+)\)/) {
                let target = String(link.1)
                if target.contains("://") || target.hasPrefix("mailto:") { continue }
                count += 1
                let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let file =
                    parts[0].isEmpty
                    ? Self.root.appending(path: page)
                    : Self.root.appending(path: page).deletingLastPathComponent().appending(path: parts[0])
                #expect(FileManager.default.fileExists(atPath: file.path), "\(page): \(target)")
                guard parts.count == 2, file.pathExtension == "md" else { continue }
                let linked = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
                #expect(Self.anchors(linked).contains(String(parts[1])), "\(page): \(target)")
            }
        }
        #expect(count > 100)
    }
}
