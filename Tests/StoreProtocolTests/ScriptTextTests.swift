import FarmHarness
import Foundation
import PushModel
import Testing

@testable import StoreProtocol

/// Checks the script texts: their headers and the shared files that they name (docs/internals/proof.md).
@Suite struct ScriptTextTests {
    private static let folder = Repository.root.appending(path: "Sources/Core/StoreProtocol/Scripts")

    private static func file(_ path: String) throws -> String {
        try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }

    @Test func `every file of the folder is a script, a shared head or a producer function`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        let scripts =
            Script.allCases.map { "\($0.rawValue).lua" } + ["submit.lua", "request_cancel.lua"]
        #expect(files.filter { $0.hasSuffix(".lua") }.sorted() == scripts.sorted())
        let shared = try FileManager.default.contentsOfDirectory(
            atPath: Self.folder.appending(path: "Shared").path)
        #expect(shared.sorted() == SharedScript.allCases.map { "\($0.rawValue).lua" }.sorted())
    }

    @Test(arguments: Script.allCases)
    func `a script names the shared files that it needs directly or indirectly`(
        script: Script
    ) throws {
        let used = SharedScript.used(by: script.text).map(\.rawValue)
        #expect(try Self.file("\(script.rawValue).lua").contains("-- Uses  ") == !used.isEmpty)
        for name in used {
            let needed = try Self.file("Shared/\(name).lua").firstMatch(of: /-- Uses ([a-z_, ]+)\./)?.1 ?? ""
            for other in needed.split(separator: ", ") {
                let place = used.firstIndex(of: String(other)) ?? used.endIndex
                #expect(place < used.firstIndex(of: name) ?? 0, "\(name) needs \(other) before it")
            }
        }
    }

    @Test(arguments: Script.allCases) func `the header of a script is complete and its flags are correct`(
        script: Script
    ) throws {
        let lines = try Self.file("\(script.rawValue).lua").components(separatedBy: "\n")
        #expect(lines[0] == (script.isReadOnly ? "#!lua flags=no-writes,allow-oom" : "#!lua flags=allow-oom"))
        let head = lines.dropFirst().prefix { $0.hasPrefix("--") }
        for word in ["-- KEYS  1 ", "-- Reply "] {
            #expect(head.contains { $0.hasPrefix(word) }, "\(script) does not say: \(word)")
        }
        #expect(head.contains { $0.contains("Again ") }, "\(script) does not say what running it again does")
        if lines.contains(where: { !$0.hasPrefix("--") && $0.contains("ARGV") }) {
            #expect(head.contains { $0.hasPrefix("-- ARGV  ") }, "\(script) does not say its arguments")
        }
        if !script.isReadOnly {
            #expect(head.contains { $0.contains("OOM") }, "\(script) does not say whether it runs at OOM")
        }
    }

    @Test func `the function knows exactly the fields of a job`() throws {
        let text = try Self.file("submit.lua")
        let list = try #require(text.firstMatch(of: /local FIELDS = {([^}]*)}/)?.1)
        let fields = list.matches(of: /'([a-z_]*)'/).map { String($0.1) }
        #expect(fields == JobSchema.fields)
        let kinds = try #require(text.firstMatch(of: /local KINDS = {([^}]*)}/)?.1)
        #expect(Set(kinds.matches(of: /([a-z_]+) = '/).map { String($0.1) }) == Set(fields))
    }
}
