-- Jobs and devices that are held back, and jobs that are cancelled.
-- Uses base.

-- What is held back: `quarantine` names jobs whose pushes wait, `devices` those that get nothing for now, `cancels` jobs that
-- were called back ("ms since when, ms from when on, seconds the account is kept, operator"). Read as a table, at once when
-- it is short.
local QUARANTINE, DEVICES, CANCELS = P .. 'quarantine', P .. 'devices', P .. 'cancels'

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

local quarantine_of, cancel_of = reader(QUARANTINE), reader(CANCELS)

-- Why a job waits, in words, from what `quarantine` says of it: "ms since when, pause or quarantine, operator, reason"; of one
-- that ended workers only the time.
local function hold_reason(mark)
    local kind, by, why = mark:match('^%d+ (%a+) (%S+) ?(.*)$')
    if not kind then return 'poison' end
    return (kind == 'pause' and 'paused' or 'quarantined') .. ' by ' .. by .. (why == '' and '' or ': ' .. why)
end

-- How much is held back stands in the gate, while anything is: checkouts look at it when there is. `cancels` is how many of
-- it are jobs that were called back.
local function count_holds()
    local gate, cancels = P .. 'gate', call('HLEN', CANCELS)
    local n = call('HLEN', QUARANTINE) + call('HLEN', DEVICES) + cancels
    if n == 0 then call('HDEL', gate, 'quarantined') else call('HSET', gate, 'quarantined', n) end
    if cancels > 0 then
        call('HSET', gate, 'cancels', cancels)
    else
        call('HDEL', gate, 'cancels')
    end
end

local function has_cancels() return call('HEXISTS', P .. 'gate', 'cancels') == 1 end
