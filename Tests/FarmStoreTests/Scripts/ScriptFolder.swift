import FarmHarness
import Foundation
import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// Scripts read from the folder that `PUSHFARM_SCRIPTS` names: a fault in one is tried without a new build.
enum ScriptFolder {
    /// Where the scripts of this tree are.
    static let sources = Repository.root.appending(path: "Sources/Core/StoreProtocol/Scripts")

    private static let other = ProcessInfo.processInfo.environment["PUSHFARM_SCRIPTS"].map {
        URL(filePath: $0)
    }

    static func file(_ name: String) throws -> String {
        try String(contentsOf: sources.appending(path: name + ".lua"), encoding: .utf8)
    }

    /// Nil without such a folder.
    static func text(of script: Script) throws -> String? {
        guard let other else { return nil }
        return try assemble(script) { name in
            try String(contentsOf: other.appending(path: name + ".lua"), encoding: .utf8)
        }
    }

    /// A script as it is loaded, with what it shares with others behind its first line.
    static func assemble(_ script: Script, _ file: (String) throws -> String) rethrows -> String {
        let body = try file("\(script)")
        let shared = try sharedFiles(of: script).map(file).joined()
        guard let end = body.firstIndex(of: "\n") else { return body }
        return body[...end] + shared + body[body.index(after: end)...]
    }

    /// The names of the files that are put behind a script's first line.
    static func sharedFiles(of script: Script) -> [String] {
        var rest = script.text.drop { $0 != UInt8(ascii: "\n") }.dropFirst()
        var names: [String] = []
        for (name, text) in [
            ("prelude", PackageResources.prelude_lua), ("census", PackageResources.census_lua),
            ("letters", PackageResources.letters_lua),
        ]
        where rest.starts(with: text) {
            names.append(name)
            rest = rest.dropFirst(text.count)
        }
        return names
    }

    /// The function's library, from that folder or as it is built in.
    static func functionCommand() throws -> RESPCommand {
        guard let other else { return FunctionLibrary.loadCommand }
        let text = try String(contentsOf: other.appending(path: "submit.lua"), encoding: .utf8)
        return RESPCommand("FUNCTION", "LOAD", "REPLACE", text)
    }
}
