#!lua flags=allow-oom
-- Pauses a job, a device token or a shard for an operator, resumes a shard, or cancels a job.
--
-- Uses  base, events, pauses, pause_entries
-- KEYS  1 prefix; 2 inbox
-- ARGV  job, id, pause|quarantine, operator, reason | cancel, id, start in ms (0: now), seconds to keep the job record,
--       operator | token, token, NN, operator, reason | shard, NN, pause|quarantine, operator, reason
--       | resume_shard, NN
-- Reply [1 if something changed, else 0; for a job: open, finished, expected (no job record, but the inbox contains
--       jobs), unknown; for all: full, if there are too many pauses, else ""; the earlier note, or ""]
-- Fence none: the operator's setting is stored; an existing pause does not change. OOM allowed.
-- Again the job is paused or cancelled already, and nothing changes.
--
-- Coordinators learn of a change from a wake-up and from `pause_changes`, which grows with each change. The coordinators' workers
-- then return the affected batches. Checkouts skip paused positions and close cancelled positions. Each kind has at most 1,000
-- pauses. At this limit, pauses that are older than a day are deleted: those of tokens and shards, and those of jobs that have no
-- job record.
local op, name, t = ARGV[1], ARGV[2], string.format('%d', now())
local SHARDS = P .. 'paused_shards'

if op == 'token' then
    return add_pause(PAUSED_TOKENS, name, '', table.concat({ t, ARGV[3], ARGV[4], ARGV[5] }, ' '), t)
elseif op == 'shard' then
    return add_pause(SHARDS, name, '', table.concat({ t, ARGV[3], ARGV[4], ARGV[5] }, ' '), t)
elseif op == 'resume_shard' then
    local old = call('HGET', SHARDS, name)
    if not old then return { 0, '', '' } end
    call('HDEL', SHARDS, name)
    pauses_changed()
    return { 1, '', old }
elseif op == 'cancel' then
    return cancel_job(name, KEYS[2], t, ARGV[3] == '0' and t or ARGV[3], ARGV[4], ARGV[5])
end

local what, state = find_job(name, KEYS[2])
if what == 'unknown' or what == 'finished' then return { 0, what, '' } end
local entry = table.concat({ t, ARGV[3], ARGV[4], ARGV[5] }, ' ')
local reply = add_pause(PAUSED_JOBS, name, what, entry, t)
if reply[1] == 1 then
    local reason = pause_reason(entry)
    if state then call('HSET', P .. 'job:' .. name, 'paused_reason', reason) end
    add_event('job.paused', t, 'job', name, 'reason', reason)
end
return reply
