-- Paused jobs and device tokens, and cancelled jobs.
-- Uses base.

-- `paused_jobs` and `paused_tokens` contain the jobs and tokens whose pushes are not sent. `cancels` contains cancelled jobs as
-- "ms of the command, ms of its effect, seconds to keep the record, operator". If a hash has at most 200 fields, the script reads
-- the whole hash as soon as it needs one field.
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

-- Returns why a job is paused, as text. The stored note is "ms of the start, pause or quarantine, operator, reason". For a job
-- that crashed workers, the note is only the time.
local function pause_reason(entry)
    local kind, by, why = entry:match('^%d+ (%a+) (%S+) ?(.*)$')
    if not kind then return 'poison' end
    return (kind == 'pause' and 'paused' or 'quarantined') .. ' by ' .. by .. (why == '' and '' or ': ' .. why)
end

-- Stores the number of pauses and cancels in `admission`, so that checkouts read pauses and cancels only if there are any. The
-- field `cancels` is the number of cancelled jobs.
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
