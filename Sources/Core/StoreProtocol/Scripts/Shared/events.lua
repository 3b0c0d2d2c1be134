-- Events for producers, and wake-ups for workers.
-- Uses base.

-- Writes an event for producers: its type, its time, then field and value in turns. The stream is cut once a call.
local EVENTS = P .. 'events'
local events_cut = false

local function add_event(event, at, ...)
    if events_cut then
        call('XADD', EVENTS, '*', 'type', event, 'at', at, ...)
    else
        events_cut = true
        call('XADD', EVENTS, 'MAXLEN', '~', '1000000', '*', 'type', event, 'at', at, ...)
    end
end

-- Adds a count of pushes to an event, unless it is 0. Events always have `submitted`, `accepted` and `delivered`.
local function add_number(words, field, n)
    if tonumber(n) == 0 then return end
    words[#words + 1], words[#words + 2] = field, n
end

-- Writes an event from ARGV: a count of words, then field and value in turns, the type first. Returns the next index.
local function add_next_event(at, i)
    local n = tonumber(ARGV[i])
    add_event(ARGV[i + 2], at, unpack(ARGV, i + 3, i + n))
    return i + n + 1
end

-- Wakes the workers that wait for batches of these shards.
local function wake(set)
    local names = {}
    for nn in pairs(set) do names[#names + 1] = nn end
    if #names > 0 then call('PUBLISH', P .. 'wakeups', table.concat(names, ' ')) end
    return names
end
