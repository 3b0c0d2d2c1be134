package import RedisProtocol

/// The functions that Redis keeps for producers: called by name, in any language, also after a restart of Redis.
package enum FunctionLibrary {
    package static let name = "pushfarm"
    package static let submit = "pushfarm_submit"

    /// The library's text; its second line says its version.
    package static var text: [UInt8] { PackageResources.submit_lua }

    /// Of a library's text; 0 if it does not say.
    package static func version(of text: [UInt8]) -> Int {
        let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: 2)
        guard lines.count > 1 else { return 0 }
        let words = String(decoding: lines[1], as: UTF8.self).split(separator: " ")
        guard words.count == 3, words[..<2] == ["--", "version"] else { return 0 }
        return Int(foreign: words[2]) ?? 0
    }

    package static var loadCommand: RESPCommand {
        var command = RESPCommand("FUNCTION", "LOAD", "REPLACE")
        command.append(text)
        return command
    }
}
