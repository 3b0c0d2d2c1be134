import Foundation

/// The recorded reply, wake-ups and changes of each case, from `effects.txt`.
enum Effects {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "effects.txt")

    static func lines(of scriptCase: ScriptCase, on redis: PrivateRedis) throws -> [String] {
        lines(of: try scriptCase.run(.once, on: redis))
    }

    static func lines(of outcome: ScriptCase.Outcome) -> [String] {
        ["answers \(outcome.reply)"] + outcome.woken.map { "rings \($0)" }
            + outcome.after.changes(since: outcome.before)
    }

    /// The recorded effects of each case, by the case's description.
    static func written() throws -> [String: [String]] { try read.get() }

    /// The file is read once, because every case needs it.
    private static let read = Result { try read(file) }

    private static func read(_ file: URL) throws -> [String: [String]] {
        var effects: [String: [String]] = [:]
        for part in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n\n") {
            let lines = part.split(separator: "\n").map(String.init)
            guard let name = lines.first else { continue }
            effects[name] = lines.dropFirst().map { String($0.dropFirst(4)) }
        }
        return effects
    }

    static func record(_ cases: [ScriptCase]) throws {
        let redis = try PrivateRedis()
        let parts = try cases.map { scriptCase in
            let lines = try lines(of: scriptCase, on: redis).map { "    \($0)\n" }
            return "\(scriptCase.testDescription)\n" + lines.joined()
        }
        try parts.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    }
}
