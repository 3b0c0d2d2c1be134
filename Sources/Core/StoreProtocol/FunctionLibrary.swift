package import RedisProtocol

/// The Redis functions that producers call by name, from any programming language. Redis stores functions together with its data,
/// so the functions still exist after a restart of Redis.
package enum FunctionLibrary {
    package static let name = "pushfarm"
    package static let submit = "pushfarm_submit"
    package static let cancel = "pushfarm_cancel"

    /// The library's source text. Its second line contains the version.
    package static var text: [UInt8] { PackageResources.submit_lua + PackageResources.request_cancel_lua }

    /// Reads the version from a library's text; 0 if the text has no version.
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
