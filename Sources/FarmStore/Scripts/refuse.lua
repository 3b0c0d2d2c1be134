#!lua
-- Drops the first taken job, which did not parse or validate, and says why.
--
-- KEYS  1 prefix
-- ARGV  1 intake token; 2 step; 3 job id or ""; 4 field; 5 position; 6 reason; 7 original, cut at 64 KiB
-- Reply 1, or 0 when this step was done before
-- Fence the intake's token and the step; STEP n: another step was done, the caller must take again. OOM refused.
-- Again the step is the intake's: nothing happens.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local intake, step = P .. 'intake', tonumber(ARGV[2])
local what = 'refuse ' .. ARGV[3] .. ' ' .. ARGV[4] .. ' ' .. ARGV[5]
local last = call('HMGET', intake, 'step', 'did')
local done = tonumber(last[1] or '0')
if step == done and last[2] == what then return 0 end
if step ~= done + 1 then return { err = 'STEP ' .. done } end
local at = now()
call('XADD', P .. 'refused', 'MAXLEN', '~', '10000', '*', 'at', at, 'job', ARGV[3], 'field', ARGV[4], 'position', ARGV[5],
    'reason', ARGV[6], 'original', ARGV[7])
call('XADD', P .. 'events', 'MAXLEN', '~', '1000000', '*', 'type', 'job.refused', 'at', at, 'job', ARGV[3], 'field',
    ARGV[4], 'position', ARGV[5], 'reason', ARGV[6])
call('LTRIM', P .. 'taken', 1, -1)
call('HSET', intake, 'step', step, 'did', what)
call('HDEL', intake, 'head', 'offset')
return 1
