import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// How the tests load the scripts: as they are, under a clock that a key holds, or with a fault put in on purpose.
struct ScriptVariant: Sendable {
    /// A fault put into a script on purpose.
    var mutant: Mutant?
    /// A script with one line changed.
    var change: LineMutant?
    /// `TIME` and the ids of streams are the test's: see ``clockKey``.
    var isTimed = false

    /// A string: microseconds since 1970. Without it, a timed script fails.
    static let clockKey = "test:clock"

    func loadCommand(of script: Script) throws -> RESPCommand {
        RESPCommand("SCRIPT", "LOAD", try text(of: script))
    }

    private func text(of script: Script) throws -> String {
        let text =
            try mutant?.text(of: script) ?? change?.text(of: script) ?? ScriptFolder.text(of: script)
            ?? String(decoding: script.text, as: UTF8.self)
        // What only reads is faster as it is.
        guard isTimed, !script.isReadOnly else { return text }
        return text.replacing("local call = redis.call\n", with: Self.clock, maxReplacements: 1)
    }

    private static let clock = """
        local function call(name, ...)
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
