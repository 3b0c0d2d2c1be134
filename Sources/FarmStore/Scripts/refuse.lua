#!lua flags=allow-oom
-- Drops the first taken job, which did not parse or validate, and says why.
--
-- KEYS  1 prefix
-- ARGV  1 intake token; 2 step; 3 job id or ""; 4 field; 5 position; 6 reason; 7 original, cut at 64 KiB;
--       8 why the rest of a job fails that was split in part; 9 seconds an account is kept
-- Reply 1, or 0 when this step was done before
-- Fence the intake's token and the step. STEP n: another step was done; TAKEN 0: there is no job, as after Redis went back
--       to before it was taken. The caller must take again. OOM allowed: see take.
-- Again the step is the intake's: nothing happens.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local intake, step = P .. 'intake', tonumber(ARGV[2])
local what = 'refuse ' .. ARGV[3] .. ' ' .. ARGV[4] .. ' ' .. ARGV[5]
local last = call('HMGET', intake, 'step', 'did', 'careful', 'head', 'offset')
local done = tonumber(last[1] or '0')
if step == done and last[2] == what then return 0 end
if step ~= done + 1 then return { err = 'STEP ' .. done } end
if call('EXISTS', P .. 'taken') == 0 then return { err = 'TAKEN 0' } end
local stamp = string.format('%d', now())
refuse_head({ last[3], last[4], last[5] }, stamp, ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9])
call('HSET', intake, 'step', step, 'did', what)
return 1
