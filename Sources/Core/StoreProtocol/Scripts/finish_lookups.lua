#!lua flags=allow-oom
-- Removes the first jobs that waited for a look-up. Each job goes back to the inbox with tokens, or is refused. The pushes of jobs
-- that the budget of background pushes limits are counted.
--
-- Uses  base, events, records, pauses, finishing, taken_jobs, refusal_counts, refusals
-- KEYS  1 prefix; 2 inbox
-- ARGV  1 intake token; 2 step; 3 counters; 4 events; counters × (key without the prefix, bytes, time of its expiry in ms);
--       events × (n, n words); then for each job, in order: the job with tokens, or "" if it is refused; job id or ""; field;
--       position; reason
-- Reply 1; 0 if this step was done before
-- Fence the intake's token and the step. STEP n: the last step in Redis is n, and this call's step does not follow it. TAKEN n:
--       fewer jobs wait for a look-up, for example because Redis lost recent writes. The caller must read the jobs again. OOM
--       allowed: the jobs were accepted, and their tokens need little memory.
-- Again this step is done already, and nothing happens. So a job gets the tokens of one look-up, and enters the inbox once.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local intake, lookups, step = P .. 'intake', P .. 'lookups', tonumber(ARGV[2])
local done = tonumber(call('HGET', intake, 'lookup_step') or '0') or 0
if step == done then return 0 end
if step ~= done + 1 then return { err = 'STEP ' .. done } end
local counters, events = tonumber(ARGV[3]), tonumber(ARGV[4])
local first = 5 + 3 * counters
for _ = 1, events do first = first + 1 + tonumber(ARGV[first]) end
local length, jobs = call('LLEN', lookups), (#ARGV + 1 - first) / 5
if length < jobs then return { err = 'TAKEN ' .. length } end
local stamp = string.format('%d', now())
for i = 5, 2 + 3 * counters, 3 do call('SET', P .. ARGV[i], ARGV[i + 1], 'PXAT', ARGV[i + 2]) end
local place = 5 + 3 * counters
for _ = 1, events do place = add_next_event(stamp, place) end
for i = first, #ARGV, 5 do
    local original = call('LPOP', lookups)
    if ARGV[i] ~= '' then
        call('RPUSH', KEYS[2], ARGV[i])
    else
        note_refused(stamp, ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], original:sub(1, 65536))
    end
end
call('HSET', intake, 'lookup_step', step)
call('HDEL', intake, 'lookup_tries', 'lookup_tried_by')
return 1
