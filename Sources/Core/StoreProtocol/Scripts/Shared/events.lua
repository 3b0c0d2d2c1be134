-- Events for producers, and wake-ups for workers.
-- Uses base.

-- Tells producers of an event: its type, its time, then field and value in turns. The stream is cut once a call.
local EVENTS = P .. 'events'
local events_cut = false

local function tell(event, at, ...)
    if events_cut then
        call('XADD', EVENTS, '*', 'type', event, 'at', at, ...)
    else
        events_cut = true
        call('XADD', EVENTS, 'MAXLEN', '~', '1000000', '*', 'type', event, 'at', at, ...)
    end
end

-- A count of pushes is left out of an event when it is 0, as of accounts; but for `submitted`, `accepted`, `delivered`.
local function add_number(words, field, n)
    if tonumber(n) == 0 then return end
    words[#words + 1], words[#words + 2] = field, n
end

-- Tells of an event in ARGV: a count of words, then field and value in turns, the type first. Returns the next index.
local function tell_next(at, i)
    local n = tonumber(ARGV[i])
    tell(ARGV[i + 2], at, unpack(ARGV, i + 3, i + n))
    return i + n + 1
end

-- Wakes the workers that wait for batches of these shards.
local function ring(set)
    local names = {}
    for nn in pairs(set) do names[#names + 1] = nn end
    if #names > 0 then call('PUBLISH', P .. 'wakeups', table.concat(names, ' ')) end
    return names
end
