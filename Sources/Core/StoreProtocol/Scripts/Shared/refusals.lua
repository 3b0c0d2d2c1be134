-- Refused jobs and duplicates: their counts, events and originals.
-- Uses base, events, records, taken.

-- Refused jobs and duplicates are counted in `refusals`, exactly: `refused` and `duplicates` in all; `minute` refused ones in the
-- minute that began at `since`, and `before` in the minute before that. Up to OWN_EVENTS of both in a minute have an event each.
-- Beyond that one event a second is written, which says in `jobs` how many it stands for; `pending_…` wait for it.
local REFUSALS, OWN_EVENTS, MINUTE, SECOND = P .. 'refusals', 100, 60000, 1000

-- A second has passed, or Redis's clock was put back.
local function is_time_to_tell(t, told_at) return t - told_at >= SECOND or told_at - t > MINUTE end

-- Counts a refused job (`what`: refused) or a duplicate (duplicates). Returns for how many jobs an event is to be written now;
-- nil: none.
local function count_refusal(what, stamp)
    local t = tonumber(stamp)
    local r = call('HMGET', REFUSALS, 'since', 'minute', 'before', 'events', 'last_event_at', 'pending_' .. what)
    for k = 1, 6 do r[k] = tonumber(r[k] or '0') or 0 end
    local since, minute, before, told, told_at, untold = unpack(r)
    if t < since or t - since >= MINUTE then
        local is_next = t >= since and t - since < 2 * MINUTE
        since, before = is_next and since + MINUTE or t, is_next and minute or 0
        minute, told = 0, 0
    end
    if what == 'refused' then minute = minute + 1 end
    untold = untold + 1
    local is_told = told < OWN_EVENTS or is_time_to_tell(t, told_at)
    call('HSET', REFUSALS, 'since', string.format('%d', since), 'minute', minute, 'before', before,
        'events', is_told and told + 1 or told, 'last_event_at', is_told and stamp or string.format('%d', told_at),
        'pending_' .. what, is_told and 0 or untold)
    increment(REFUSALS, what, 1)
    return is_told and untold or nil
end

-- Tells of the refused jobs and duplicates that still wait for an event, once a second has passed since the last one.
local function tell_untold(t)
    local r = call('HMGET', REFUSALS, 'last_event_at', 'pending_refused', 'pending_duplicates')
    if not r[1] or not is_time_to_tell(t, tonumber(r[1]) or 0) then return end
    local refused, duplicates, stamp = tonumber(r[2] or '0') or 0, tonumber(r[3] or '0') or 0, string.format('%d', t)
    if refused + duplicates == 0 then return end
    if refused > 0 then
        tell('job.refused', stamp, 'field', 'job', 'position', 0, 'reason', 'more refused jobs, without an event each',
            'jobs', refused)
    end
    if duplicates > 0 then tell('job.duplicate', stamp, 'jobs', duplicates) end
    call('HSET', REFUSALS, 'last_event_at', stamp, 'pending_refused', 0, 'pending_duplicates', 0)
end

-- Keeps a refused job for inspection. `jobs` is for how many it stands.
local function keep_refused(stamp, job, field, position, reason, original, jobs)
    local words = { 'at', stamp, 'job', job, 'field', field, 'position', position, 'reason', reason }
    if jobs > 1 then words[11], words[12] = 'jobs', jobs end
    words[#words + 1], words[#words + 2] = 'original', original
    call('XADD', P .. 'refused', 'MAXLEN', '~', '10000', '*', unpack(words))
end

-- Counts a refused job, and tells of it and keeps it unless there are too many of them. Returns whether it did.
local function note_refused(stamp, job, field, position, reason, original)
    local jobs = count_refusal('refused', stamp)
    if not jobs then return false end
    keep_refused(stamp, job, field, position, reason, original, jobs)
    local words = { 'field', field, 'position', position, 'reason', reason }
    if job ~= '' then words = { 'job', job, unpack(words) } end
    if jobs > 1 then words[#words + 1], words[#words + 2] = 'jobs', jobs end
    tell('job.refused', stamp, unpack(words))
    return true
end

-- Refuses the first taken job. `intake` is its hash's [suspects, head, offset]; `rest` is why those pushes of a job split
-- in part fail that are in no batch, and `keep` how long its account then stays. Returns whether it was told of.
local function refuse_head(intake, stamp, job, field, position, reason, original, rest, keep)
    local careful, head, offset = unpack(intake)
    local is_told = true
    if head and head ~= '' then
        keep_refused(stamp, head, field, position, reason, original, 1)
        fail_rest(head, offset, rest, stamp, keep)
        call('HDEL', P .. 'intake', 'head', 'offset')
    else
        is_told = note_refused(stamp, job, field, position, reason, original)
    end
    drop_taken(1, careful)
    return is_told
end
