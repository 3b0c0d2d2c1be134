-- Refused jobs and duplicates: their counts, events and originals.
-- Uses base, events, records, taken_jobs, refusal_counts.

-- The hash with the counts of refused jobs and of duplicates.
local REFUSALS = P .. 'refusals'

-- Writes events for the refused jobs and the duplicates that have no event yet, if a second has passed since the last event.
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

-- Keeps a refused job for inspection. `jobs` is the number of refused jobs that the kept job represents.
local function keep_refused(stamp, job, field, position, reason, original, jobs)
    local words = { 'at', stamp, 'job', job, 'field', field, 'position', position, 'reason', reason }
    if jobs > 1 then words[11], words[12] = 'jobs', jobs end
    words[#words + 1], words[#words + 2] = 'original', original
    call('XADD', P .. 'refused', 'MAXLEN', '~', '10000', '*', unpack(words))
end

-- Counts a refused job. Writes an event and keeps the job, unless there are too many refused jobs. Returns whether the job is
-- kept.
local function note_refused(stamp, job, field, position, reason, original)
    local jobs = count_refusal(REFUSALS, 'refused', stamp)
    if not jobs then return false end
    keep_refused(stamp, job, field, position, reason, original, jobs)
    local words = { 'field', field, 'position', position, 'reason', reason }
    if job ~= '' then words = { 'job', job, unpack(words) } end
    if jobs > 1 then words[#words + 1], words[#words + 2] = 'jobs', jobs end
    add_event('job.refused', stamp, unpack(words))
    return true
end

-- Refuses the first taken job. `intake` has three fields of the intake's hash: `suspects`, the number of taken jobs that are
-- processed one by one; `head`, the id of the partly split job, if any; `offset`, the number of this job's pushes that are
-- already split. The unsplit pushes of a partly split job fail with the reason `rest`, and the job record is kept for `keep`
-- seconds. Returns whether an event was written.
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
