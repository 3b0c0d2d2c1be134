-- Stores pauses of jobs, device tokens and shards, and marks jobs as cancelled.
-- Uses base, events, pauses.

-- Each kind (jobs, tokens, shards, cancelled jobs) has at most MOST_PAUSES entries. At this limit, entries that are older than a
-- day are deleted: those of tokens and shards, and those of jobs that have no job record.
local MOST_PAUSES, DAY = 1000, 86400000

-- Notifies the coordinators.
local function pauses_changed()
    call('HINCRBY', P .. 'admission', 'pause_changes', 1)
    call('PUBLISH', P .. 'wakeups', 'pauses')
end

local function make_room(key, t)
    if call('HLEN', key) < MOST_PAUSES then return true end
    local entries = call('HGETALL', key)
    for i = 1, #entries, 2 do
        local since = tonumber(entries[i + 1]:match('^%d+'))
        if since < t - DAY and call('EXISTS', P .. 'job:' .. entries[i]) == 0 then call('HDEL', key, entries[i]) end
    end
    return call('HLEN', key) < MOST_PAUSES
end

-- Stores an entry under a name. Returns three values: 1 if the entry was stored, else 0; `what`, or 'full' if there are too many
-- entries; the earlier entry under this name, or ''.
local function add_pause(key, name, what, entry, t)
    local old = call('HGET', key, name)
    if old then return { 0, what, old } end
    if not make_room(key, t) then return { 0, 'full', '' } end
    call('HSET', key, name, entry)
    count_pauses()
    pauses_changed()
    return { 1, what, '' }
end

-- The lists, beside the inbox, with jobs and campaigns that have no job record yet.
local BEFORE_RECORD = { 'taken', 'lookups', 'campaigns', 'campaigns_taken' }

-- Returns the state of a job: open, finished, expected (no job record, but jobs wait for the intake) or unknown. The second
-- returned value is false if the job has no record.
local function find_job(job, inbox)
    local state = call('HGET', P .. 'job:' .. job, 'state')
    if state then return state, state end
    local waiting = call('LLEN', inbox)
    for _, list in ipairs(BEFORE_RECORD) do
        local length = redis.pcall('LLEN', P .. list)
        -- A key of the wrong type contains no job.
        if type(length) == 'number' then waiting = waiting + length end
    end
    return waiting > 0 and 'expected' or 'unknown', state
end

-- Marks a job as cancelled from the time `due` on, unless it is unknown or finished. The job's record is kept for `keep` seconds
-- after the job finishes. Returns the reply of add_pause.
local function cancel_job(job, inbox, t, due, keep, by)
    local what = find_job(job, inbox)
    if what == 'unknown' or what == 'finished' then return { 0, what, '' } end
    -- If a job is cancelled twice, the earlier of the two times applies.
    local old = call('HGET', CANCELS, job)
    if old and tonumber(old:match('^%d+ (%d+)')) > tonumber(due) then call('HDEL', CANCELS, job) end
    local reply = add_pause(CANCELS, job, what, table.concat({ t, due, keep, by }, ' '), t)
    if reply[1] == 1 then add_event('job.cancelled', t, 'job', job, 'from', due, 'by', by) end
    return reply
end
