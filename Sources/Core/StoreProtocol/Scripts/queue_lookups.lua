#!lua flags=allow-oom
-- Moves the first taken jobs, which name users or devices instead of tokens, to the jobs that wait for a look-up.
--
-- Uses  base, events, records, pauses, finishing, taken_jobs
-- KEYS  1 prefix
-- ARGV  1 intake token; 2 step; 3 number of jobs
-- Reply 1; 0 if this step was done before
-- Fence the intake's token and the step. STEP n: the last step in Redis is n, and this call's step does not follow it. TAKEN n:
--       fewer jobs are taken, for example because Redis lost recent writes. The caller must take again. OOM allowed: the call moves
--       jobs from one list to another.
-- Again this step is done already, and nothing happens.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local intake, step, jobs = P .. 'intake', tonumber(ARGV[2]), tonumber(ARGV[3])
local what = 'queue_lookups ' .. ARGV[3]
local last = call('HMGET', intake, 'step', 'did', 'suspects')
local done = tonumber(last[1] or '0')
if step == done and last[2] == what then return 0 end
if step ~= done + 1 then return { err = 'STEP ' .. done } end
local length = call('LLEN', P .. 'taken')
if length < jobs then return { err = 'TAKEN ' .. length } end
for _, job in ipairs(call('LRANGE', P .. 'taken', 0, jobs - 1)) do call('RPUSH', P .. 'lookups', job) end
drop_taken(jobs, last[3])
call('HSET', intake, 'step', step, 'did', what)
return 1
