-- Refused jobs and duplicates: their counts, events and originals.
-- Uses base, events, records, taken_jobs.

-- Refused jobs and duplicates are counted in `refusals`, exactly: `refused` and `duplicates` in all; `minute` refused ones in the
-- minute that began at `since`, and `before` in the minute before that. Up to OWN_EVENTS of both in a minute have an event each.
-- Beyond that one event a second is written, which says in `jobs` how many it stands for; `pending_…` wait for it.
local REFUSALS, OWN_EVENTS, MINUTE, SECOND = P .. 'refusals', 100, 60000, 1000

-- A second has passed, or Redis's clock was put back.
local function is_event_due(t, last_event_at) return t - last_event_at >= SECOND or last_event_at - t > MINUTE end

-- Counts a refused job (`what`: refused) or a duplicate (duplicates). Returns for how many jobs an event is to be written now;
-- nil: none.
local function count_refusal(what, stamp)
    local t = tonumber(stamp)
    local r = call('HMGET', REFUSALS, 'since', 'minute', 'before', 'events', 'last_event_at', 'pending_' .. what)
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
    call('HSET', REFUSALS, 'since', string.format('%d', since), 'minute', minute, 'before', before,
        'events', has_event and events + 1 or events, 'last_event_at', has_event and stamp or string.format('%d', last_event_at),
        'pending_' .. what, has_event and 0 or pending)
    increment(REFUSALS, what, 1)
    return has_event and pending or nil
end

-- Writes an event for refused jobs and duplicates that have none yet, once a second has passed since the last one.
local function report_pending_refusals(t)
    local r = call('HMGET', REFUSALS, 'last_event_at', 'pending_refused', 'pending_duplicates')
    if not r[1] or not is_event_due(t, tonumber(r[1]) or 0) then return end
    local refused, duplicates, stamp = tonumber(r[2] or '0') or 0, tonumber(r[3] or '0') or 0, string.format('%d', t)
    if refused + duplicates == 0 then return end
    if refused > 0 then
        add_event('job.refused', stamp, 'field', 'job', 'position', 0, 'reason', 'more refused jobs, without an event each',
            'jobs', refused)
    end
    if duplicates > 0 then add_event('job.duplicate', stamp, 'jobs', duplicates) end
    call('HSET', REFUSALS, 'last_event_at', stamp, 'pending_refused', 0, 'pending_duplicates', 0)
end

-- Keeps a refused job for inspection. `jobs` is for how many it stands.
local function keep_refused(stamp, job, field, position, reason, original, jobs)
    local words = { 'at', stamp, 'job', job, 'field', field, 'position', position, 'reason', reason }
    if jobs > 1 then words[11], words[12] = 'jobs', jobs end
    words[#words + 1], words[#words + 2] = 'original', original
    call('XADD', P .. 'refused', 'MAXLEN', '~', '10000', '*', unpack(words))
end

-- Counts a refused job. Writes an event and keeps the job unless there are too many of them; returns whether it did.
local function note_refused(stamp, job, field, position, reason, original)
    local jobs = count_refusal('refused', stamp)
    if not jobs then return false end
    keep_refused(stamp, job, field, position, reason, original, jobs)
    local words = { 'field', field, 'position', position, 'reason', reason }
    if job ~= '' then words = { 'job', job, unpack(words) } end
    if jobs > 1 then words[#words + 1], words[#words + 2] = 'jobs', jobs end
    add_event('job.refused', stamp, unpack(words))
    return true
end

-- Refuses the first taken job. `intake` is its hash's [suspects, head, offset]; `rest` is why those pushes of a job split
-- in part fail that are in no batch, and `keep` how long its job record then stays. Returns whether it has an event.
local function refuse_head(intake, stamp, job, field, position, reason, original, rest, keep)
    local suspects, head, offset = unpack(intake)
    local has_event = true
    if head and head ~= '' then
        keep_refused(stamp, head, field, position, reason, original, 1)
        fail_rest(head, offset, rest, stamp, keep)
        call('HDEL', P .. 'intake', 'head', 'offset')
    else
        has_event = note_refused(stamp, job, field, position, reason, original)
    end
    drop_taken(1, suspects)
    return has_event
end
