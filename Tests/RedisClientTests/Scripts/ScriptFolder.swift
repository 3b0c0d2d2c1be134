import FarmHarness
import Foundation
import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// Reads scripts from the folder in `PUSHFARM_SCRIPTS`, so that a test can try a fault without a new build.
enum ScriptFolder {
    /// The folder with the scripts of this repository.
    static let sources = Repository.root.appending(path: "Sources/Core/StoreProtocol/Scripts")

    private static let other = ProcessInfo.processInfo.environment["PUSHFARM_SCRIPTS"].map {
        URL(filePath: $0)
    }

    static func file(_ name: String) throws -> String {
        try file(name, in: sources)
    }

    /// Reads the text of a script, or of a file in the folder `Shared`.
    private static func file(_ name: String, in folder: URL) throws -> String {
        let isShared =
            SharedScript(rawValue: name) != nil && !Script.allCases.contains { $0.rawValue == name }
        let path = isShared ? "Shared/\(name).lua" : "\(name).lua"
        return try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }

    /// The text of the script; nil if `PUSHFARM_SCRIPTS` is not set.
    static func text(of script: Script) throws -> String? {
        guard let other else { return nil }
        return try assemble(script) { name in
            try file(name, in: other)
        }
    }

    /// A script as Redis loads it, with its shared files after its first line.
    static func assemble(_ script: Script, _ file: (String) throws -> String) rethrows -> String {
        let body = try file(script.rawValue)
        let shared = try sharedFiles(of: script).map(file).joined()
        guard let end = body.firstIndex(of: "\n") else { return body }
        return body[...end] + shared + body[body.index(after: end)...]
    }

    /// The names of the files that are inserted after a script's first line.
    static func sharedFiles(of script: Script) -> [String] {
        SharedScript.used(by: script.text).map(\.rawValue)
    }

    /// Returns the command that loads the function library, from the folder in `PUSHFARM_SCRIPTS` or, without it, from the
    /// program.
    static func functionCommand() throws -> RESPCommand {
        guard let other else { return FunctionLibrary.loadCommand }
        let text = try ["submit.lua", "request_cancel.lua"].map {
            try String(contentsOf: other.appending(path: $0), encoding: .utf8)
        }
        return RESPCommand("FUNCTION", "LOAD", "REPLACE", text.joined())
    }
}
