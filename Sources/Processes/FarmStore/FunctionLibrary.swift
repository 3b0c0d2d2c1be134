import EventLoop
import RESP

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

    static var loadCommand: RESPCommand {
        var command = RESPCommand("FUNCTION", "LOAD", "REPLACE")
        command.append(text)
        return command
    }
}

extension FarmRegistry {
    /// The text of the library that Redis has; nil if it has none.
    package func functionLibrary() async throws(RedisError) -> [UInt8]? {
        let list = RESPCommand("FUNCTION", "LIST", "LIBRARYNAME", FunctionLibrary.name, "WITHCODE")
        let library = try await connection.call(list).array?.first?.array ?? []
        guard let index = library.firstIndex(where: { $0.text == "library_code" }), index + 1 < library.count
        else { return nil }
        return library[index + 1].bytes
    }

    /// Loads the library if Redis has none or an older one; a newer one, of a newer coordinator, stays.
    /// - Returns: whether it was loaded.
    package func loadFunctions() async throws(RedisError) -> Bool {
        if let present = try await functionLibrary() {
            let (theirs, ours) = (
                FunctionLibrary.version(of: present), FunctionLibrary.version(of: FunctionLibrary.text)
            )
            if theirs > ours || present == FunctionLibrary.text { return false }
        }
        _ = try await connection.call(FunctionLibrary.loadCommand)
        return true
    }
}
