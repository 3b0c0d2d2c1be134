-- Events for producers, and wake-ups for workers.
-- Uses base.

-- Writes an event for producers: its type, its time, then alternating fields and values. The first event of a script call also
-- trims the stream.
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

-- Adds a field with a number of pushes to an event, unless the number is 0. Callers add `submitted`, `accepted` and `delivered`
-- themselves, even if they are 0.
local function add_number(words, field, n)
    if tonumber(n) == 0 then return end
    words[#words + 1], words[#words + 2] = field, n
end

-- Writes the event whose words are in ARGV: ARGV[i] is the number of the words that follow. These are `type`, the type, then
-- alternating fields and values. Returns the index after the last word.
local function add_next_event(at, i)
    local n = tonumber(ARGV[i])
    add_event(ARGV[i + 2], at, unpack(ARGV, i + 3, i + n))
    return i + n + 1
end

-- Notifies the workers that wait for batches of these shards. Returns the shards as a list.
local function wake(set)
    local names = {}
    for nn in pairs(set) do names[#names + 1] = nn end
    if #names > 0 then call('PUBLISH', P .. 'wakeups', table.concat(names, ' ')) end
    return names
end
