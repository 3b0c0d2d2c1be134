#!lua flags=allow-oom
-- Pauses a job, a device token or a shard for an operator, resumes a shard, or cancels a job.
--
-- Uses  base, events, pauses
-- KEYS  1 prefix; 2 inbox
-- ARGV  job, id, pause|quarantine, operator, reason | cancel, id, start in ms (0: now), seconds to keep the job record,
--       operator | device, token, NN, operator, reason | shard, NN, pause|quarantine, operator, reason
--       | resume_shard, NN
-- Reply [1 if something changed, else 0; for a job: open, finished, expected (no job record, but the inbox contains
--       jobs), unknown; for all: full, if there are too many pauses, else ""; the earlier note, or ""]
-- Fence none: the operator's setting is stored; an existing pause does not change. OOM allowed.
-- Again the job is paused or cancelled already, and nothing changes.
--
-- A wake-up and `pause_changes`, which grows with each change, notify the coordinators, and workers return their batches.
-- Checkouts skip paused positions and close cancelled ones. Each kind has at most 1,000 pauses. Pauses older than a day of jobs
-- that never came are deleted to make room.
local op, name, t = ARGV[1], ARGV[2], string.format('%d', now())
local MOST, DAY, SHARDS = 1000, 86400000, P .. 'paused_shards'

local function changed()
    call('HINCRBY', P .. 'admission', 'pause_changes', 1)
    call('PUBLISH', P .. 'wakeups', 'pauses')
end

local function make_room(key)
    if call('HLEN', key) < MOST then return true end
    local entries = call('HGETALL', key)
    for i = 1, #entries, 2 do
        local since = tonumber(entries[i + 1]:match('^%d+'))
        if since < t - DAY and call('EXISTS', P .. 'job:' .. entries[i]) == 0 then call('HDEL', key, entries[i]) end
    end
    return call('HLEN', key) < MOST
end

local function add_pause(key, what, entry)
    local old = call('HGET', key, name)
    if old then return { 0, what, old } end
    if not make_room(key) then return { 0, 'full', '' } end
    call('HSET', key, name, entry)
    count_pauses()
    changed()
    return { 1, what, '' }
end

if op == 'device' then
    return add_pause(PAUSED_TOKENS, '', table.concat({ t, ARGV[3], ARGV[4], ARGV[5] }, ' '))
elseif op == 'shard' then
    return add_pause(SHARDS, '', table.concat({ t, ARGV[3], ARGV[4], ARGV[5] }, ' '))
elseif op == 'resume_shard' then
    local old = call('HGET', SHARDS, name)
    if not old then return { 0, '', '' } end
    call('HDEL', SHARDS, name)
    changed()
    return { 1, '', old }
end

local job_record = P .. 'job:' .. name
local state = call('HGET', job_record, 'state')
local is_expected = not state and call('LLEN', KEYS[2]) + call('LLEN', P .. 'taken') > 0
local what = state or (is_expected and 'expected' or 'unknown')
if what == 'unknown' or what == 'finished' then return { 0, what, '' } end
if op == 'cancel' then
    local due = ARGV[3] == '0' and t or ARGV[3]
    local old = call('HGET', CANCELS, name)
    -- If a job is cancelled twice, the earlier time is valid.
    if old and tonumber(old:match('^%d+ (%d+)')) > tonumber(due) then call('HDEL', CANCELS, name) end
    local reply = add_pause(CANCELS, what, table.concat({ t, due, ARGV[4], ARGV[5] }, ' '))
    if reply[1] == 1 then add_event('job.cancelled', t, 'job', name, 'from', due, 'by', ARGV[5]) end
    return reply
end
local entry = table.concat({ t, ARGV[3], ARGV[4], ARGV[5] }, ' ')
local reply = add_pause(PAUSED_JOBS, what, entry)
if reply[1] == 1 then
    local reason = pause_reason(entry)
    if state then call('HSET', job_record, 'paused_reason', reason) end
    add_event('job.paused', t, 'job', name, 'reason', reason)
end
return reply
