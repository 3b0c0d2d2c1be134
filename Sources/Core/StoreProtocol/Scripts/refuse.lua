#!lua flags=allow-oom
-- Removes the first taken job, which did not parse or validate, or whose id is in use, and records the reason.
--
-- Uses  base, events, records, pauses, finishing, taken_jobs, refusal_counts, refusals
-- KEYS  1 prefix
-- ARGV  1 intake token; 2 step; 3 job id or ""; 4 field; 5 position; 6 reason; 7 original, cut at 64 KiB;
--       8 why the remaining pushes of a partly split job fail; 9 seconds to keep a job record; 10 refused, or duplicate:
--       a duplicate has its own type of event, and its original is not kept
-- Reply 1; 2 if the job was counted without an event, because too many jobs are refused; 0 if this step was done before
-- Fence the intake's token and the step. STEP n: the last step in Redis is n, and this call's step does not follow it. TAKEN 0:
--       there is no taken job, for example because Redis lost recent writes. The caller must call `take` again. OOM allowed, for
--       the same reason as in take.lua.
-- Again this step is done already, and nothing happens.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local intake, step = P .. 'intake', tonumber(ARGV[2])
local what = 'refuse ' .. ARGV[3] .. ' ' .. ARGV[4] .. ' ' .. ARGV[5]
local last = call('HMGET', intake, 'step', 'did', 'suspects', 'head', 'offset')
local done = tonumber(last[1] or '0')
if step == done and last[2] == what then return 0 end
if step ~= done + 1 then return { err = 'STEP ' .. done } end
if call('EXISTS', P .. 'taken') == 0 then return { err = 'TAKEN 0' } end
local stamp = string.format('%d', now())
local has_event
if ARGV[10] == 'duplicate' then
    local jobs = count_refusal(REFUSALS, 'duplicates', stamp)
    has_event = jobs ~= nil
    if has_event then
        local words = { 'job', ARGV[3] }
        if jobs > 1 then words[3], words[4] = 'jobs', jobs end
        add_event('job.duplicate', stamp, unpack(words))
    end
    drop_taken(1, last[3])
else
    has_event = refuse_head({ last[3], last[4], last[5] }, stamp, ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8],
        ARGV[9])
end
call('HSET', intake, 'step', step, 'did', what)
return has_event and 1 or 2
