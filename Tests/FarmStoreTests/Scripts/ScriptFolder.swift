import Foundation
import RESP

@testable import FarmStore

/// Scripts read from the folder that `PUSHFARM_SCRIPTS` names: a fault in one is tried without a new build.
enum ScriptFolder {
    /// Where the scripts of this tree are.
    static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources/FarmStore/Scripts")

    private static let other = ProcessInfo.processInfo.environment["PUSHFARM_SCRIPTS"].map {
        URL(filePath: $0)
    }

    static func file(_ name: String) throws -> String {
        try String(contentsOf: sources.appending(path: name + ".lua"), encoding: .utf8)
    }

    /// Nil without such a folder.
    static func loadCommand(of script: Script) throws -> RESPCommand? {
        guard let other else { return nil }
        func read(_ name: String) throws -> String {
            try String(contentsOf: other.appending(path: name + ".lua"), encoding: .utf8)
        }
        let body = try read("\(script)")
        let usesPrelude = String(decoding: script.text, as: UTF8.self).contains("\nlocal P = KEYS[1]\n")
        guard usesPrelude, let end = body.firstIndex(of: "\n") else {
            return RESPCommand("SCRIPT", "LOAD", body)
        }
        return RESPCommand("SCRIPT", "LOAD", body[...end] + (try read("prelude")) + body[end...])
    }

    /// The function's library, from that folder or as it is built in.
    static func functionCommand() throws -> RESPCommand {
        guard let other else { return FunctionLibrary.loadCommand }
        let text = try String(contentsOf: other.appending(path: "submit.lua"), encoding: .utf8)
        return RESPCommand("FUNCTION", "LOAD", "REPLACE", text)
    }
}
