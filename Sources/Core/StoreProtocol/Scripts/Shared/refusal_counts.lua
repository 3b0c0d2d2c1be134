-- Counts the refused entries of an inbox, and decides when an event about them is written.
-- Uses base, records.

-- The fields of a hash of counts are exact. `refused` and `duplicates` count all entries. `minute` counts the refused entries in
-- the minute that began at `since`, and `before` counts the refused entries in the minute that ended at `since`. The first
-- OWN_EVENTS entries of a minute get an event each. After that, at most one event per second is written, and it represents all
-- entries since the previous event. `pending_…` counts the entries that the next event will represent.
local OWN_EVENTS, MINUTE, SECOND = 100, 60000, 1000

-- Returns whether a second has passed since the last event, or Redis's clock was set back.
local function is_event_due(t, last_event_at) return t - last_event_at >= SECOND or last_event_at - t > MINUTE end

-- Counts an entry as `what`, refused or duplicates, in the hash `counts`. Returns the number of entries that the caller's event
-- must represent; nil if the caller writes no event now.
local function count_refusal(counts, what, stamp)
    local t = tonumber(stamp)
    local r = call('HMGET', counts, 'since', 'minute', 'before', 'events', 'last_event_at', 'pending_' .. what)
    for k = 1, 6 do r[k] = tonumber(r[k] or '0') or 0 end
    local since, minute, before, events, last_event_at, pending = unpack(r)
    if t < since or t - since >= MINUTE then
        local is_next = t >= since and t - since < 2 * MINUTE
        since, before = is_next and since + MINUTE or t, is_next and minute or 0
        minute, events = 0, 0
    end
    if what == 'refused' then minute = minute + 1 end
    pending = pending + 1
    local has_event = events < OWN_EVENTS or is_event_due(t, last_event_at)
    call('HSET', counts, 'since', string.format('%d', since), 'minute', minute, 'before', before,
        'events', has_event and events + 1 or events, 'last_event_at', has_event and stamp or string.format('%d', last_event_at),
        'pending_' .. what, has_event and 0 or pending)
    increment(counts, what, 1)
    return has_event and pending or nil
end
