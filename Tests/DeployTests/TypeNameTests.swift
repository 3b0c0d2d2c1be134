import FarmHarness
import Foundation
import Testing

/// Names of types: one type a name, in the field's words (docs/glossary.md).
struct TypeNameTests {
    private struct Declaration {
        let name: String
        let module: String
        /// Seen by other files: declared at a file's top level, and not private.
        let isGlobal: Bool
    }

    /// Parts of names of the days before the glossary, and what they stood for.
    private static let oldWords: [String: String] = [
        "Desk": "the role: OperationConsumer, MetricsServer", "Crew": "WorkerPlacement",
        "Hands": "assignments", "Vigil": "Watchdog", "Lookout": "AsyncCondition", "Bell": "wake-up",
        "Door": "ControlServer, admission", "Beat": "Heartbeat", "Seat": "HostClaim",
        "Solitude": "ExclusiveTurn", "Surroundings": "Dependencies", "Sight": "Observation",
        "Mend": "Repair", "Hasten": "MakeDue", "Wish": "DesiredState", "Patience": "timeout, grace period",
        "Bury": "DeadLetter", "Nap": "Sleep", "Books": "accounting",
    ]

    private static func declarations() throws -> [Declaration] {
        let rule =
            /^( *)(?:@\w+(?:\([^)]*\))? )*((?:\w+ )*)(?:class|struct|enum|protocol|actor) (\w+)/
            .anchorsMatchLineEndings()
        return try Repository.swiftFiles(below: "Sources").flatMap { file -> [Declaration] in
            let path = file.split(separator: "/")
            let module = String(path[1] == "pushfarm" ? path[1] : path[2])
            return try Repository.text(of: file).matches(of: rule).map { match in
                Declaration(
                    name: String(match.3), module: module,
                    isGlobal: match.1.isEmpty && !match.2.contains("private"))
            }
        }
    }

    /// A name's words: "HTTP2Stream" has "HTTP2" and "Stream", near enough.
    private static func words(of name: String) -> [String] {
        name.matches(of: /[A-Z]+(?![a-z])\d*|[A-Z][a-z0-9]*/).map { String($0.0) }
    }

    @Test func `no two modules have a type of one name`() throws {
        let all = try Self.declarations().filter(\.isGlobal)
        #expect(all.count > 500)
        for (name, those) in Dictionary(grouping: all, by: \.name) {
            let modules = Set(those.map(\.module))
            #expect(modules.count == 1, "\(name) is in \(modules.sorted())")
        }
    }

    @Test func `no type is named like a module`() throws {
        let all = try Self.declarations()
        let modules = Set(all.map(\.module))
        for one in all where modules.contains(one.name) {
            Issue.record("\(one.module) has a type \(one.name)")
        }
    }

    @Test func `types are named in the glossary's words`() throws {
        for one in try Self.declarations() {
            for word in Self.words(of: one.name) {
                if let better = Self.oldWords[word] {
                    Issue.record("\(one.module).\(one.name): \(word) is \(better)")
                }
            }
        }
    }
}
