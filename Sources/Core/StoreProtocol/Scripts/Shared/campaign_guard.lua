-- Pauses a campaign when too many of its last pushes failed.
-- Uses base, events, pauses, pause_entries.

-- The field `recent` of a campaign's record has three numbers about the campaign's last outcomes, at most about a thousand: the
-- outcomes delivered and failed, the failed outcomes, and the responses that reported bad tokens. `stop_at` is the share of
-- failed outcomes, from 0 to 1, above which the campaign is paused.
local LEAST_OUTCOMES = 100

-- Returns the guard of a campaign; nil if the job is not the job of a campaign. A damaged field has its default. A producer may
-- submit a job with the id of a campaign that has ended. This job is newer than the campaign's end, and is not the campaign's job.
local function read_campaign_guard(job)
    local r = redis.pcall('HMGET', P .. 'campaign:' .. job, 'state', 'stop_at', 'recent', 'finished_at')
    if r.err or not r[1] or r[1] == 'draft' or r[1] == 'refused' then return nil end
    local ended = tonumber(r[4] or '')
    if ended then
        local created = redis.pcall('HGET', P .. 'job:' .. job, 'created_at')
        if type(created) == 'string' and (tonumber(created) or 0) > ended then return nil end
    end
    local all, failed, bad = (r[3] or ''):sub(1, 60):match('^(%d+) (%d+%.?%d*) (%d+%.?%d*)$')
    all = tonumber(all or '') or 0
    return {
        share = tonumber(r[2] or '') or 0.2, all = all, failed = math.min(all, tonumber(failed or '') or 0),
        bad = math.min(all, tonumber(bad or '') or 0), found = 0,
    }
end

-- Stores the counts of a guard.
local function store_campaign_guard(job, guard)
    call('HSET', P .. 'campaign:' .. job, 'recent', string.format('%d %.3f %.3f', guard.all, guard.failed, guard.bad))
end

-- Pauses the campaign if too many of its last pushes failed and its job is not finished. The pause is like an operator's pause:
-- `resume` ends it, and the guard then counts from 0.
local function stop_campaign(job, guard, stamp)
    if guard.all < LEAST_OUTCOMES or guard.failed <= guard.share * guard.all then return end
    local job_record = P .. 'job:' .. job
    if call('HGET', job_record, 'state') ~= 'open' then return end
    local reason = string.format('%d of the last %d pushes failed', math.floor(guard.failed + 0.5), guard.all)
    local entry = table.concat({ stamp, 'pause', 'stop_at', reason }, ' ')
    if add_pause(PAUSED_JOBS, job, '', entry, tonumber(stamp))[1] == 0 then return end
    call('HSET', job_record, 'paused_reason', pause_reason(entry))
    add_event('job.paused', stamp, 'job', job, 'reason', pause_reason(entry))
    add_event('campaign.paused', stamp, 'campaign', job, 'reason', reason)
end
