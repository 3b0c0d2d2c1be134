import FarmHarness
import Foundation
import Testing

/// Checks type names: each name has one type, and names use the words of docs/glossary.md.
struct TypeNameTests {
    private struct Declaration {
        let name: String
        let module: String
        /// Whether other files can see the type: it is declared at the top level of its file and is not private.
        let isGlobal: Bool
    }

    /// Words that type names must not contain, each with the word to use instead.
    private static let oldWords: [String: String] = [
        "Desk": "the role: OperationConsumer, MetricsServer", "Crew": "WorkerPlacement",
        "Hands": "assignments", "Vigil": "Watchdog", "Lookout": "AsyncCondition", "Bell": "wake-up",
        "Door": "ControlServer, admission", "Beat": "Heartbeat", "Seat": "HostNameConflict",
        "Solitude": "SuspectPushTurn", "Surroundings": "Dependencies", "Sight": "Observation",
        "Mend": "Repair", "Hasten": "PromoteJob", "Wish": "DesiredState", "Patience": "timeout, grace period",
        "Bury": "DeadLetter", "Nap": "Sleep", "Books": "accounting",
        "Park": "quarantine", "Blame": "intake crash", "Accused": "suspects", "Told": "sent",
        "Standing": "state", "Vacancies": "unclaimed fields", "Press": "UpdateAdmission",
    ]

    /// All types of the sources. The files are read once.
    private static let declarations = Result { try readDeclarations() }

    private static func readDeclarations() throws -> [Declaration] {
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

    /// Splits a name into words. The result is approximate: "HTTP2Stream" becomes "HTTP2" and "Stream".
    private static func words(of name: String) -> [String] {
        name.matches(of: /[A-Z]+(?![a-z])\d*|[A-Z][a-z0-9]*/).map { String($0.0) }
    }

    @Test func `no two modules have a type with the same name`() throws {
        let all = try Self.declarations.get().filter(\.isGlobal)
        #expect(all.count > 500)
        for (name, those) in Dictionary(grouping: all, by: \.name) {
            let modules = Set(those.map(\.module))
            #expect(modules.count == 1, "\(name) is in \(modules.sorted())")
        }
    }

    @Test func `no type has the name of a module`() throws {
        let all = try Self.declarations.get()
        let modules = Set(all.map(\.module))
        for one in all where modules.contains(one.name) {
            Issue.record("\(one.module) has a type \(one.name)")
        }
    }

    @Test func `type names use the words of the glossary`() throws {
        for one in try Self.declarations.get() {
            for word in Self.words(of: one.name) {
                if let better = Self.oldWords[word] {
                    Issue.record("\(one.module).\(one.name): \(word) is \(better)")
                }
            }
        }
    }
}
