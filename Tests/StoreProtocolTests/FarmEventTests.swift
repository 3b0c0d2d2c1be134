import FarmHarness
import Foundation
import Testing

@testable import StoreProtocol

@Suite("Events that producers read")
struct FarmEventTests {
    private static let root = Repository.root
    private static let kinds = Set(FarmEvent.Kind.allCases.map(\.rawValue))

    @Test("scripts write only events of a known kind")
    func scripts() throws {
        let folder = Self.root.appending(path: "Sources/Core/StoreProtocol/Scripts")
        var written: Set<String> = []
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        for name in names where name.hasSuffix(".lua") {
            let script = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            written.formUnion(script.matches(of: /add_event\('([^']*)'/).map { String($0.1) })
        }
        #expect(written.count > 10)
        #expect(written.subtracting(Self.kinds) == [])
    }

    @Test("docs/jobs.md has each kind, and no other")
    func page() throws {
        let page = try String(
            contentsOf: Self.root.appending(path: "docs/jobs.md"), encoding: .utf8)
        let table = try #require(page.firstRange(of: "| `type` | fields besides `at` |"))
        let rows = page[table.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
            .dropFirst(2).prefix { $0.hasPrefix("|") }
        let named = rows.flatMap { row in
            row.split(separator: "|")[0].matches(of: /`([^`]*)`/).map { String($0.1) }
        }
        #expect(named.count == Self.kinds.count)
        #expect(Set(named) == Self.kinds)
    }
}
