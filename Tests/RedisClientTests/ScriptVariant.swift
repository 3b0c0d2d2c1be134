import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// The variant of the scripts that a test loads: unchanged, with a clock in a Redis key, or with a deliberate fault.
struct ScriptVariant: Sendable {
    /// A deliberate fault in a script.
    var mutant: Mutant?
    /// The changed line of a script.
    var change: LineMutant?
    /// Whether scripts take `TIME` and the ids of stream entries from ``clockKey`` instead of the clock of Redis.
    var isTimed = false

    /// The key with the time, as a string of microseconds since 1970. Without this key, a timed script fails.
    static let clockKey = "test:clock"

    func loadCommand(of script: Script) throws -> RESPCommand {
        RESPCommand("SCRIPT", "LOAD", try text(of: script))
    }

    private func text(of script: Script) throws -> String {
        let text =
            try mutant?.text(of: script) ?? change?.text(of: script) ?? ScriptFolder.text(of: script)
            ?? String(decoding: script.text, as: UTF8.self)
        // A read-only script needs no simulated clock and is faster without it.
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
