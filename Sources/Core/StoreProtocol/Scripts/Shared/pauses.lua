-- Paused jobs and device tokens, and cancelled jobs.
-- Uses base.

-- `paused_jobs` and `paused_tokens` name what is not sent, `cancels` the cancelled jobs ("ms of the command, ms of its effect,
-- seconds to keep the record, operator"). A short hash is read whole, at the first question.
local PAUSED_JOBS, PAUSED_TOKENS, CANCELS = P .. 'paused_jobs', P .. 'paused_tokens', P .. 'cancels'

local function reader(key)
    local all, n = {}, nil
    return function(field)
        if not n then
            n = call('HLEN', key)
            local flat = n > 0 and n <= 200 and call('HGETALL', key) or {}
            for i = 1, #flat, 2 do all[flat[i]] = flat[i + 1] end
        end
        if all[field] == nil then all[field] = n > 200 and call('HGET', key, field) or false end
        return all[field]
    end
end

local pause_of, cancel_of = reader(PAUSED_JOBS), reader(CANCELS)

-- Why a job is paused, in words, from its mark: "ms since when, pause or quarantine, operator, reason"; the mark of a job that
-- crashed workers has only the time.
local function pause_reason(entry)
    local kind, by, why = entry:match('^%d+ (%a+) (%S+) ?(.*)$')
    if not kind then return 'poison' end
    return (kind == 'pause' and 'paused' or 'quarantined') .. ' by ' .. by .. (why == '' and '' or ': ' .. why)
end

-- Keeps in `admission` how many pauses and cancels there are, so that checkouts read them only when there are any. `cancels`
-- counts the cancelled jobs among them.
local function count_pauses()
    local admission, cancels = P .. 'admission', call('HLEN', CANCELS)
    local n = call('HLEN', PAUSED_JOBS) + call('HLEN', PAUSED_TOKENS) + cancels
    if n == 0 then call('HDEL', admission, 'pauses') else call('HSET', admission, 'pauses', n) end
    if cancels > 0 then
        call('HSET', admission, 'cancels', cancels)
    else
        call('HDEL', admission, 'cancels')
    end
end

local function has_cancels() return call('HEXISTS', P .. 'admission', 'cancels') == 1 end
