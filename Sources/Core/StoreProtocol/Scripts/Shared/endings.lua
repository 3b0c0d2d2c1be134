-- The end of pushes and of jobs.
-- Uses base, events, records, holds.

-- A job that has ended is no longer held back: its id may come again.
local has_holds

local function acquit(job)
    if has_holds == nil then has_holds = call('EXISTS', QUARANTINE, CANCELS) > 0 end
    if not has_holds then return end
    local n = call('HDEL', QUARANTINE, job)
    if n == 1 then call('HDEL', P .. 'job:' .. job, 'paused_reason') end
    if n + call('HDEL', CANCELS, job) > 0 then count_holds() end
end

-- A job has no open push any more, and its account says so: it stays for `keep` seconds.
local function tell_finished(account, job, stamp, keep, accepted, delivered, failed, expired, cancelled)
    call('EXPIRE', account, keep)
    acquit(job)
    if delivered == accepted then
        tell('job.finished', stamp, 'job', job, 'accepted', accepted, 'delivered', delivered)
    else
        local words = { 'job', job, 'accepted', accepted, 'delivered', delivered }
        add_number(words, 'failed', failed)
        add_number(words, 'expired', expired)
        add_number(words, 'cancelled', cancelled)
        tell('job.finished', stamp, unpack(words))
    end
end

local function finish_job(job, stamp, ...)
    local account = P .. 'job:' .. job
    call('HSET', account, 'state', 'finished', 'finished_at', stamp)
    tell_finished(account, job, stamp, ...)
end

-- So many pushes have come to their end.
local function count_ended(n)
    increment(P .. 'load', 'open', -n)
    increment(P .. 'load', 'settled', n)
end
