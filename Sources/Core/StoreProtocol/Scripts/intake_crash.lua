#!lua flags=allow-oom
-- Counts an exit of an intake process against the taken jobs that it was processing.
--
-- Uses  base, events, records, pauses, finishing, taken_jobs, refusal_counts, refusals
-- KEYS  1 prefix
-- ARGV  1 intake token; 2 name of the process that exited; 3 whether it was working for this app only, 0/1;
--       4 exits after which a job is refused; 5 seconds to keep a job record
-- Reply [jobs that are processed one by one from now on, exits counted against the first of them, 1 if it was refused]
-- Fence the intake's token. OOM allowed: the exit and the full memory may have the same cause, a job that is too large for the
--       machine.
-- Again the process's name is stored, so its exit is not counted twice.
--
-- At a first exit, each taken job may be the cause. So this exit counts once against each of these jobs, and from then on, they
-- are processed one by one. If a process exits while it processes one of these jobs alone, the exit counts against that job, as
-- its second exit or a later one. After a completed step, the next exit counts as a second exit again. A job with ARGV[4] exits
-- is refused as poison. Batches that were already split from the job stay.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local intake = P .. 'intake'
local i = call('HMGET', intake, 'suspects', 'head', 'offset', 'step', 'did', 'suspect_step', 'crashes', 'last_crash')
local suspects, step, ends, poison = tonumber(i[1] or '0'), i[4] or '0', tonumber(i[7] or '0'), 'poison ' .. ARGV[2]
if i[8] == ARGV[2] then return { suspects, ends, i[5] == poison and 1 or 0 } end
call('HSET', intake, 'last_crash', ARGV[2])

if suspects == 0 then
    local taken = call('LLEN', P .. 'taken')
    if taken > 0 then call('HSET', intake, 'suspects', taken) end
    return { taken, 0, 0 }
end
if ARGV[3] ~= '1' then return { suspects, 0, 0 } end
ends = i[6] == step and ends + 1 or 2
if ends < tonumber(ARGV[4]) then
    call('HSET', intake, 'suspect_step', step, 'crashes', ends)
    return { suspects, ends, 0 }
end
local original = call('LINDEX', P .. 'taken', 0):sub(1, 65536)
refuse_head({ i[1], i[2], i[3] }, string.format('%d', now()), '', 'job', 0, 'poison', original, 'poison', ARGV[5])
call('HSET', intake, 'step', string.format('%d', step + 1), 'did', poison, 'crashes', ends)
return { suspects - 1, ends, 1 }
