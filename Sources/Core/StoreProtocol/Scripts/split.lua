#!lua flags=allow-oom
-- Creates job records and batches from taken jobs, in one step of the intake.
--
-- Uses  base, events, records, pauses, finishing, batches, cancelling, back_pressure, new_batches, taken_jobs
-- KEYS  1 prefix; 2 inbox
-- ARGV  1 intake token; 2 step; 3 jobs to remove from the head of `taken`; 4 head job id or ""; 5 head offset;
--       6 maximum number of job records; 7 seconds to keep a job record; 8 jobs; 9 batches;
--       jobs × (id, 0 or, for the first chunk, 1 and the id of the job that it replays, submitted, accepted, malformed,
--       duplicates, unknown recipients, capped, lane, warning or "", events, events × (n, n words));
--       batches × (NN, h|b, due in ms or 0, tokens, body); the job of this step if it came to `taken`
--       without `take`, or ""
-- Reply [1, ms until the earliest delayed batch of this call or -1, 1 if there is nothing to take: no job is in `taken`
--       or in the inbox, and the app is not full, shards woken…]; [0] if this step was done before
-- Fence the intake's token and the step. STEP n: the last step in Redis is n, and this call's step does not follow it. TAKEN n:
--       fewer jobs are taken than the step needs, for example because Redis lost recent writes, or the taken job is not the job
--       of this step. The caller must take again. OOM allowed, for the reason in take.lua. Error EXISTS id, before any effect: a
--       job with that id is open or its record is younger than 24 h.
-- Again this step is done already, and nothing happens. So job records, batches and counts in `load` are added once, and
--       jobs leave `taken` once.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local intake, step, jobs = P .. 'intake', tonumber(ARGV[2]), P .. 'jobs'
-- The step's number is stored with a summary of its contents, so that a different step with the same number is recognised.
local what = table.concat({ 'split', ARGV[3], ARGV[4], ARGV[5], ARGV[8], ARGV[9], ARGV[10] or '' }, ' ')
local last = call('HMGET', intake, 'step', 'did', 'suspects')
local done = tonumber(last[1] or '0')
if step == done and last[2] == what then return { 0 } end
if step ~= done + 1 then return { err = 'STEP ' .. done } end
local length = call('LLEN', P .. 'taken')
if length < ARGV[3] + (ARGV[4] == '' and 0 or 1) then return { err = 'TAKEN ' .. length } end
local alone = ARGV[#ARGV]
if alone ~= '' and (length ~= 1 or call('LINDEX', P .. 'taken', 0) ~= alone) then return { err = 'TAKEN ' .. length } end
local most, keep, njobs, nbatches = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local t = now()
local stamp = string.format('%d', t)

-- The jobs of new job records, and the keys of these records. All keys are checked in one call, because almost always none of the
-- ids is in use.
local i, seen, ids, keys = 10, {}, {}, {}
for _ = 1, njobs do
    if ARGV[i + 1] ~= '0' then
        local id = ARGV[i]
        if seen[id] then return { err = 'EXISTS ' .. id } end
        seen[id] = 'new'
        ids[#ids + 1], keys[#keys + 1] = id, P .. 'job:' .. id
    end
    i = i + 10
    local events = tonumber(ARGV[i])
    i = i + 1
    for _ = 1, events do i = i + 1 + tonumber(ARGV[i]) end
end
local opened, places = #ids, {}
if opened > 0 and call('EXISTS', unpack(keys)) > 0 then
    for k, id in ipairs(ids) do
        if call('EXISTS', keys[k]) == 1 then
            local old = call('HMGET', keys[k], 'state', 'created_at')
            if old[1] ~= 'finished' or tonumber(old[2]) > t - 86400000 then return { err = 'EXISTS ' .. id } end
            seen[id] = 'old'
        end
    end
end

local n, pauses = 0, call('HMGET', P .. 'admission', 'pauses', 'cancels')
i = 10
for _ = 1, njobs do
    local id, opens, submitted, accepted, malformed, duplicates, unknown, capped, lane, warning, events =
        unpack(ARGV, i, i + 10)
    if opens ~= '0' then
        n = n + 1
        places[2 * n - 1], places[2 * n] = stamp, id
        local job_record = keys[n]
        if seen[id] == 'old' then call('DEL', job_record) end
        call('HSET', job_record, 'state', 'open', 'submitted', submitted, 'accepted', accepted, 'lane', lane,
            'created_at', stamp)
        if submitted == accepted and unknown == '0' and capped == '0' and warning == '' then
            add_event('job.accepted', stamp, 'job', id, 'submitted', submitted, 'accepted', accepted)
        else
            local words = { 'job', id, 'submitted', submitted, 'accepted', accepted }
            add_number(words, 'malformed', malformed)
            add_number(words, 'duplicates', duplicates)
            add_number(words, 'unknown_recipients', unknown)
            add_number(words, 'capped', capped)
            if warning ~= '' then words[#words + 1], words[#words + 2] = 'warning', warning end
            add_event('job.accepted', stamp, unpack(words))
            if #words > 6 then call('HSET', job_record, unpack(words, 7)) end
        end
        if #opens > 1 then call('HSET', job_record, 'replay_of', opens:sub(2)) end
    end
    if opens ~= '0' and pauses[1] and pause_of(id) then
        call('HSET', P .. 'job:' .. id, 'paused_reason', pause_reason(pause_of(id)))
    end
    i = i + 11
    for _ = 1, tonumber(events) do i = add_next_event(stamp, i) end
    if opens ~= '0' and accepted == '0' then finish_job(id, stamp, keep, 0, 0, 0, 0, 0) end
end
if opened > 0 then call('ZADD', jobs, unpack(places)) end

local first, wakes = add_new_batches(i, nbatches, t, pauses[2])
if ARGV[3] ~= '0' then drop_taken(ARGV[3], last[3]) end
call('HSET', intake, 'step', step, 'did', what)
if ARGV[4] == '' then
    call('HDEL', intake, 'head', 'offset')
else
    call('HSET', intake, 'head', ARGV[4], 'offset', ARGV[5])
end

-- Job records are deleted by age (they expire) or by number. The list of jobs is trimmed a few steps for each new job. An open
-- job, or a job that finished late, moves to a later place in the list and is checked again there.
if opened > 0 then
    local gone = {}
    local excess = call('ZCARD', jobs) - most
    local oldest = call('ZRANGE', jobs, 0, 0, 'WITHSCORES')
    if excess > 0 or t - tonumber(oldest[2]) > keep * 1000 then
        oldest = call('ZRANGE', jobs, 0, 2 * opened, 'WITHSCORES')
    end
    for k = 1, #oldest, 2 do
        local id, age = oldest[k], t - tonumber(oldest[k + 1])
        if excess <= #gone and age <= keep * 1000 then break end
        local job_record = P .. 'job:' .. id
        local old = redis.pcall('HMGET', job_record, 'state', 'finished_at')
        if not old[1] then
            gone[#gone + 1] = id
        elseif old[1] == 'open' then
            call('ZADD', jobs, stamp, id)
        elseif excess > #gone or not tonumber(old[2] or '') then
            call('DEL', job_record)
            gone[#gone + 1] = id
        else
            call('ZADD', jobs, old[2], id)
        end
    end
    if #gone > 0 then call('ZREM', jobs, unpack(gone)) end
end

local is_drained = length == tonumber(ARGV[3]) and call('EXISTS', KEYS[2]) == 0 and not is_full()
local reply = { 1, first, is_drained and 1 or 0 }
for k, nn in ipairs(wake(wakes)) do reply[k + 3] = nn end
return reply
