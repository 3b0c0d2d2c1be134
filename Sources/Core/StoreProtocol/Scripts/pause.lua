#!lua flags=allow-oom
-- Pauses a job, a device token or a shard for an operator, serves a shard again, or cancels a job.
--
-- Uses  base, events, pauses
-- KEYS  1 prefix; 2 inbox
-- ARGV  job, id, pause|quarantine, operator, reason | cancel, id, ms from when on (0: now), seconds the job record is kept,
--       operator | device, token, NN, operator, reason | shard, NN, pause|quarantine, operator, reason
--       | serve, NN
-- Reply [1 when something changed, else 0; of a job: open, finished, expected (it has no job record, but jobs wait in the
--       inbox), unknown; of all: full, when there are too many, and "" otherwise; what was written down before, or ""]
-- Fence none: the operator's setting is stored; an existing pause stays as it is. OOM allowed.
-- Again it is paused or cancelled already, and nothing changes.
--
-- A wake-up and `pause_changes`, which grows with each change, tell coordinators: workers return what they have. Checkouts
-- skip paused positions and close cancelled ones. There are at most 1,000 pauses of each kind; marks older than a day whose job
-- never came make room.
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
elseif op == 'serve' then
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
    -- Of two cancels the earlier one holds.
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
