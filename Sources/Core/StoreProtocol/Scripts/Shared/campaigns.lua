-- Campaigns, and the job records to which they add pushes.
-- Uses base, events, records, pauses, finishing.

-- While a campaign may add pushes, its job record has the field `adding` = 1, and `accepted` is 1 higher than the number of
-- accepted pushes. So the outcomes never add up to `accepted`, and neither a report nor a cancel can finish the job. So its marks
-- in `paused_jobs` and `cancels` stay until the last step.

local CAMPAIGN_IDS = P .. 'campaign_ids'

local function campaign_key(id) return P .. 'campaign:' .. id end

-- Returns whether a campaign in this state may add pushes, now or later.
local function may_add(state) return state == 'scheduled' or state == 'running' end

-- Creates the job record of a campaign, or repairs the field `adding` of the record. If the field exists, nothing happens.
local function ensure_adding(id, lane, stamp)
    local job_record = P .. 'job:' .. id
    local adding = redis.pcall('HGET', job_record, 'adding')
    if type(adding) == 'table' then drop_record(id) elseif adding then return end
    call('HSET', job_record, 'state', 'open', 'adding', 1)
    call('HDEL', job_record, 'finished_at')
    call('PERSIST', job_record)
    call('HSETNX', job_record, 'submitted', 0)
    call('HSETNX', job_record, 'lane', lane)
    call('HSETNX', job_record, 'created_at', stamp)
    increment(job_record, 'accepted', 1)
    call('ZADD', P .. 'jobs', stamp, id)
end

-- Ends the adding of pushes. If no push of the job is open, the job is finished, and its record is kept for `keep` seconds.
local function end_adding(id, stamp, keep)
    local job_record = P .. 'job:' .. id
    local adding = redis.pcall('HGET', job_record, 'adding')
    if type(adding) ~= 'string' then return end
    call('HDEL', job_record, 'adding')
    local accepted = increment(job_record, 'accepted', -1)
    local a = call('HMGET', job_record, 'delivered', 'failed', 'expired', 'cancelled')
    local sum = 0
    for k = 1, 4 do
        a[k] = a[k] or '0'
        sum = sum + (tonumber(a[k]) or 0)
    end
    if sum == accepted then finish_job(id, stamp, keep, texts[accepted], unpack(a)) end
end

-- In milliseconds.
local TEN_MINUTES, HOUR, DAY = 600000, 3600000, 86400000

-- Adds to the number of the present span of time: `sent_at:T` or `done_at:T`, where T is the span's start in Unix ms. A span
-- takes ten minutes, and an hour when a day has passed since the campaign's first push was due. So a campaign of a month has at
-- most 900 spans.
local function count_in_time(campaign, name, number, t)
    local start = tonumber(call('HGET', campaign, 'starts_at') or '') or t
    local span = t - start < DAY and TEN_MINUTES or HOUR
    increment(campaign, name .. ':' .. string.format('%d', t - t % span), number)
end

-- The results of a series without campaigns are kept for 100 days.
local SERIES_SECONDS = 8640000

-- Adds to the number of a variant in a campaign's record. If the campaign learns from a series, the number is also added to the
-- results of the series.
local function add_variant_number(campaign, name, number)
    increment(campaign, name, number)
    local series = call('HGET', campaign, 'results_series')
    if not series then return end
    local results = P .. 'variant_results:' .. series
    increment(results, name, number)
    call('EXPIRE', results, SERIES_SECONDS)
end

-- Stores the final state of a campaign, and ends the adding of pushes. `reason` is "" or why the campaign ended.
local function end_campaign(id, state, reason, stamp, keep)
    local key = campaign_key(id)
    call('HSET', key, 'state', state, 'finished_at', stamp)
    local words = { 'campaign', id, 'state', state }
    if reason ~= '' then
        call('HSET', key, 'reason', reason)
        words[5], words[6] = 'reason', reason
    end
    -- A count has the number of its round in its name, as in `capped:2`.
    local sums = {}
    for _, field in ipairs(call('HKEYS', key)) do
        local name = field:match('^(%l+):%d+$')
        if name then sums[name] = (sums[name] or 0) + (tonumber(call('HGET', key, field)) or 0) end
    end
    for _, name in ipairs({ 'audience', 'accepted', 'merged', 'capped', 'excluded', 'unsendable' }) do
        if sums[name] then add_number(words, name, texts[sums[name]]) end
    end
    add_event('campaign.finished', stamp, unpack(words))
    end_adding(id, stamp, keep)
end
