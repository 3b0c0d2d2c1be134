-- Finishes pushes and jobs.
-- Uses base, events, records, pauses.

-- Removes the pauses and the cancel of a finished job, because its id may be used again.
local has_pauses

local function remove_marks(job)
    if has_pauses == nil then has_pauses = call('EXISTS', PAUSED_JOBS, CANCELS) > 0 end
    if not has_pauses then return end
    local n = call('HDEL', PAUSED_JOBS, job)
    if n == 1 then call('HDEL', P .. 'job:' .. job, 'paused_reason') end
    if n + call('HDEL', CANCELS, job) > 0 then count_pauses() end
end

-- Finishes a job that has no open push according to its job record. The record is kept for `keep` seconds. `unknown` is the
-- number of unknown recipients, if the job has any.
local function close_finished_job(job_record, job, stamp, keep, unknown, accepted, delivered, failed, expired, cancelled)
    call('EXPIRE', job_record, keep)
    remove_marks(job)
    if delivered == accepted and not unknown then
        add_event('job.finished', stamp, 'job', job, 'accepted', accepted, 'delivered', delivered)
    else
        local words = { 'job', job, 'accepted', accepted, 'delivered', delivered }
        add_number(words, 'failed', failed)
        add_number(words, 'expired', expired)
        add_number(words, 'cancelled', cancelled)
        if unknown then add_number(words, 'unknown_recipients', unknown) end
        add_event('job.finished', stamp, unpack(words))
    end
end

local function finish_job(job, stamp, keep, ...)
    local job_record = P .. 'job:' .. job
    call('HSET', job_record, 'state', 'finished', 'finished_at', stamp)
    close_finished_job(job_record, job, stamp, keep, call('HGET', job_record, 'unknown_recipients'), ...)
end

-- Moves `n` pushes in `load` from `open` to `settled`, because they got an outcome.
local function count_ended(n)
    increment(P .. 'load', 'open', -n)
    increment(P .. 'load', 'settled', n)
end
