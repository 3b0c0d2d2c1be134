import Foundation
import RESP

@testable import FarmStore

/// How the tests load the scripts: as they are, under a clock that a key holds, or with a fault put in on purpose.
struct ScriptVariant: Sendable {
    /// What stands in the place of a script's file; the prelude's name is "prelude".
    var files: [String: [UInt8]] = Self.environment
    /// `TIME` and the ids of streams are the test's: see ``clockKey``.
    var isTimed = false

    /// A string: microseconds since 1970. Without it, a timed script fails.
    static let clockKey = "test:clock"

    /// Files of the folder that `PUSHFARM_SCRIPTS` names: a fault in a script is tried without a new build.
    private static let environment: [String: [UInt8]] = {
        guard let folder = ProcessInfo.processInfo.environment["PUSHFARM_SCRIPTS"] else { return [:] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        precondition(!names.isEmpty, "no scripts in \(folder)")
        return Dictionary(
            uniqueKeysWithValues: names.filter { $0.hasSuffix(".lua") }.map { name in
                (
                    String(name.dropLast(4)),
                    [UInt8](FileManager.default.contents(atPath: folder + "/" + name)!)
                )
            })
    }()

    func loadCommand(of script: Script) -> RESPCommand {
        var command = RESPCommand("SCRIPT", "LOAD")
        command.append(text(of: script))
        return command
    }

    func text(of script: Script) -> [UInt8] {
        let text = assembled(script)
        // What only reads is faster as it is.
        guard isTimed, script != .audit, script != .depths else { return text }
        let end = text.firstIndex(of: UInt8(ascii: "\n"))! + 1
        let body = String(decoding: text[end...], as: UTF8.self)
            .replacingOccurrences(of: "redis.call", with: "simulated_call")
        return text[..<end] + Array((Self.clock + body).utf8)
    }

    private func assembled(_ script: Script) -> [UInt8] {
        guard !files.isEmpty else { return script.text }
        let file = files["\(script)"] ?? Self.file(of: script)
        guard Self.hasPrelude(script) else { return file }
        let head = (file.firstIndex(of: UInt8(ascii: "\n")) ?? file.endIndex - 1) + 1
        return file[..<head] + (files["prelude"] ?? PackageResources.prelude_lua) + file[head...]
    }

    /// A script's own file: what is loaded, without the prelude.
    static func file(of script: Script) -> [UInt8] {
        guard hasPrelude(script) else { return script.text }
        let end = endOfFirstLine(script)
        return Array(script.text[..<end] + script.text[(end + PackageResources.prelude_lua.count)...])
    }

    private static func hasPrelude(_ script: Script) -> Bool {
        script.text[endOfFirstLine(script)...].starts(with: PackageResources.prelude_lua)
    }

    private static func endOfFirstLine(_ script: Script) -> Int {
        script.text.firstIndex(of: UInt8(ascii: "\n"))! + 1
    }

    private static let clock = """
        local function simulated_call(name, ...)
            if name == 'TIME' then
                local us = tonumber(redis.call('GET', '\(clockKey)'))
                return { string.format('%d', math.floor(us / 1000000)), string.format('%06d', us % 1000000) }
            elseif name ~= 'XADD' then
                return redis.call(name, ...)
            end
            local words = { ... }
            local ms = math.floor(tonumber(redis.call('GET', '\(clockKey)')) / 1000)
            if redis.call('EXISTS', words[1]) == 1 then
                local info = redis.call('XINFO', 'STREAM', words[1])
                for i = 1, #info, 2 do
                    if info[i] == 'last-generated-id' then
                        ms = math.max(ms, tonumber(info[i + 1]:match('^%d+')))
                    end
                end
            end
            for i = 2, 5 do
                if words[i] == '*' then
                    words[i] = string.format('%d-*', ms)
                    break
                end
            end
            return redis.call('XADD', unpack(words))
        end

        """
}
