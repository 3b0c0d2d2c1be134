-- Jobs that the intake took from the inbox.
-- Uses base, events, records, finishing.

-- Removes the first n taken jobs. `suspects` is the field of the intake's hash: how many of the taken jobs are processed one by
-- one.
local function drop_taken(n, suspects)
    call('LTRIM', P .. 'taken', n, -1)
    if not suspects then return end
    if tonumber(suspects) > tonumber(n) then
        call('HSET', P .. 'intake', 'suspects', string.format('%d', suspects - n))
    else
        call('HDEL', P .. 'intake', 'suspects', 'suspect_step', 'crashes')
    end
end

-- Fails the pushes of a partly split job that are not in a batch yet, because the job will not be split further.
local function fail_rest(job, offset, reason, stamp, keep)
    local job_record = P .. 'job:' .. job
    local a = redis.pcall('HMGET', job_record, 'accepted', 'delivered', 'failed', 'expired', 'cancelled')
    local rest = (tonumber(a[1] or '0') or 0) - (tonumber(offset) or 0)
    if rest <= 0 then return end
    local failed = increment(job_record, 'failed', rest)
    increment(job_record, 'reason:' .. reason, rest)
    add_event('job.pushes_failed', stamp, 'job', job, 'failed', rest, 'reason', reason)
    local delivered, expired, cancelled = a[2] or '0', a[4] or '0', a[5] or '0'
    local sum = failed + (tonumber(delivered) or 0) + (tonumber(expired) or 0) + (tonumber(cancelled) or 0)
    if sum == tonumber(a[1]) then
        finish_job(job, stamp, keep, a[1], delivered, failed, expired, cancelled)
    end
end
