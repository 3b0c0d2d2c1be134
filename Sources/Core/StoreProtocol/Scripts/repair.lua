#!lua flags=allow-oom
-- Repairs faults that `check_accounting` found. The script runs only on an operator's request.
--
-- Uses  base, events, records, pauses, finishing, batches, cancelling, paused_positions, accounting, campaigns
-- KEYS  1 prefix
-- ARGV  1 shards of the farm; 2 seconds to keep a job record; 3 batch | job_records | jobs; batch: 4 its id; jobs: 4… their ids
-- Reply the repairs, as text; empty if nothing was repaired
-- Fence none: each call atomically checks again what it repairs, so it may run while the farm runs. If a batch goes back to its
--       ready list, later reports of its worker are stale, and only their delivered and failed items are accepted.
-- OOM   allowed. Again there is nothing to repair.
--
-- batch: A batch in no list goes to its ready list, and pushes that may have been sent are counted. A batch in several
-- lists stays in one list. Wrong counts of a batch are corrected. A batch that cannot be read goes to `unreadable`. An id without
-- a batch is removed.
-- job_records: in_flight and delayed are set to the real numbers. Missing pushes fail as lost. A job with pushes but without a
-- job record gets a record. Results entries that cannot be read go to `unreadable`. The whole app is repaired atomically.
-- The field `adding` of a job record is corrected by the state of the job's campaign.
-- jobs: the same, but only for the named job records and the job records of jobs in queues.
local shards, keep, done = tonumber(ARGV[1]), ARGV[2], {}
local function note(...) done[#done + 1] = table.concat({ ... }, ' ') end
local function shard_name(shard) return string.format('%02d', shard) end

-- Removes an id from all lists except the list `but`, which keeps the id once. Returns how often the id was removed.
local function take_out(id, but)
    local gone = 0
    local function from(list)
        local n = #call('LPOS', P .. list, id, 'COUNT', 0)
        if list == but then n = n - 1 end
        if n > 0 then call('LREM', P .. list, -n, id) end
        gone = gone + n
    end
    for shard = 0, shards - 1 do
        for _, list in ipairs({ 'ready:', 'bulk:', 'in_flight:' }) do from(list .. shard_name(shard)) end
    end
    from('paused')
    if but ~= 'delayed' then gone = gone + call('ZREM', P .. 'delayed', id) end
    return gone
end

local function is_in(list, id) return call('LPOS', P .. list, id) end

local function repair_batch(id)
    local s, body = load_state(id), call('HGET', BODIES, id)
    local isNamed = id:match('^%d+%.[hb]%.') and tonumber(id:match('^%d+')) < shards
    if not s or not body or not isNamed or not is_readable(body, s.map) then
        local places = take_out(id)
        if body then call('HSET', P .. 'unreadable', id, body) end
        drop_batch(id)
        if body then return note('batch', id, 'set aside as unreadable') end
        if places > 0 then note('batch', id, 'had nothing behind it and is dropped') end
        return
    end
    local open_positions, isPaused = count_open(s.map, 1, -1), s.map:find('p', 1, true)
    if open_positions ~= s.open then
        note('batch', id, 'counted', s.open, 'open of', open_positions)
        s.open = open_positions
    end
    local list, nn = ready_list(id)
    local ready, flight_list = list:sub(#P + 1), 'in_flight:' .. nn
    local place
    if s.worker ~= '' and is_in(flight_list, id) then
        place = flight_list
    elseif call('ZSCORE', P .. 'delayed', id) then
        place = 'delayed'
    elseif is_in(ready, id) then
        place = ready
    elseif is_in('paused', id) then
        place = 'paused'
    end
    if open_positions == 0 and (not isPaused or place ~= 'paused') then
        take_out(id)
        end_or_pause(id, s)
        return note('batch', id, 'had nothing to send and is', isPaused and 'paused' or 'dropped')
    end
    local gone = take_out(id, place)
    if place ~= flight_list then
        if s.worker ~= '' or s.granted > 0 then
            local maybe_sent = {}
            each_job_part(body, function(job, first, last)
                local n = count_open(s.map, first, math.min(last, s.granted))
                if n > 0 then maybe_sent[job] = n end
            end)
            for job, n in pairs(maybe_sent) do
                if redis.pcall('HEXISTS', P .. 'job:' .. job, 'state') == 1 then
                    increment(P .. 'job:' .. job, 'maybe_duplicated', n)
                end
            end
            note('batch', id, 'lost its worker', s.worker)
        end
        s.worker, s.granted = '', 0
    elseif s.granted > #s.map then
        note('batch', id, 'granted', s.granted, 'of', #s.map)
        s.granted = #s.map
    end
    save_state(id, s)
    if not place then
        call('RPUSH', list, id)
        note('batch', id, 'is ready again')
    elseif gone > 0 then
        note('batch', id, 'stays in', place, 'only')
    end
    wake({ [nn] = true })
end

-- Corrects the field `adding`, so that the record of a campaign's job is open while the campaign may add pushes.
local function repair_adding(job, is_adding, stamp)
    local job_record = P .. 'job:' .. job
    local adding = redis.pcall('HGET', job_record, 'adding')
    if adding == (is_adding and '1' or false) or type(adding) == 'table' and not is_adding then return end
    if type(adding) == 'string' then
        call('HDEL', job_record, 'adding')
        increment(job_record, 'accepted', -1)
    end
    if is_adding then ensure_adding(job, redis.pcall('HGET', campaign_key(job), 'lane') or 'high', stamp) end
    note('job', job, is_adding and 'has a campaign that adds pushes' or 'has no campaign that adds pushes')
end

local function repair_record(job, stamp)
    local job_record, a = P .. 'job:' .. job, {}
    local flat = redis.pcall('HGETALL', job_record)
    if flat.err then
        drop_record(job)
        note('job', job, 'had a record that is not a hash, set aside as unreadable')
        flat = {}
    end
    for i = 1, #flat, 2 do
        if is_invalid(flat[i], flat[i + 1]) then
            reset_field(job_record, flat[i], flat[i + 1])
            note('job', job, 'held no number in', flat[i])
        else
            a[flat[i]] = flat[i + 1]
        end
    end
    local function n(name) return tonumber(a[name] or '0') or 0 end
    if a.state and not a.accepted and n('submitted') > 0 then
        a.accepted = n('submitted') - n('malformed') - n('duplicates') + n('adding')
        call('HSET', job_record, 'accepted', a.accepted)
    end
    local here = open[job] or 0
    if not a.state then
        if here == 0 then
            call('ZREM', P .. 'jobs', job)
            return note('job', job, 'has no job record and is dropped from the list')
        end
        call('ZADD', P .. 'jobs', stamp, job)
        call('HSET', job_record, 'state', 'open', 'submitted', here, 'accepted', here, 'created_at', stamp)
        a = { state = 'open', submitted = here, accepted = here }
        note('job', job, 'has', here, 'open and got a job record')
    end
    if not call('ZSCORE', P .. 'jobs', job) then call('ZADD', P .. 'jobs', a.created_at or stamp, job) end
    local ended = n('delivered') + n('failed') + n('expired') + n('cancelled')
    local accepted = n('accepted')
    local missing = accepted - ended - here - unsplit(job, accepted) - n('adding')
    if missing > 0 then
        call('HINCRBY', job_record, 'failed', missing)
        call('HINCRBY', job_record, 'reason:lost', missing)
        add_event('job.repaired', stamp, 'job', job, 'reason', 'lost', 'pushes', missing)
        note('job', job, 'lost', missing, 'and has them as failed')
        ended = ended + missing
    elseif missing < 0 then
        call('HINCRBY', job_record, 'accepted', -missing)
        call('HINCRBY', job_record, 'submitted', -missing)
        add_event('job.repaired', stamp, 'job', job, 'reason', 'found', 'pushes', -missing)
        note('job', job, 'has', -missing, 'more than it had accepted')
        accepted = accepted - missing
    end
    for name, sum in pairs({ in_flight = in_flight[job] or 0, delayed = delayed[job] or 0 }) do
        if n(name) ~= sum then
            call('HSET', job_record, name, sum)
            note('job', job, 'had', n(name), name, 'of', sum)
        end
    end
    if ended == accepted and a.state ~= 'finished' then
        local now = call('HMGET', job_record, 'delivered', 'failed', 'expired', 'cancelled')
        finish_job(job, stamp, keep, accepted, now[1] or 0, now[2] or 0, now[3] or 0, now[4] or 0)
        note('job', job, 'is finished')
    elseif ended ~= accepted and a.state == 'finished' then
        call('HSET', job_record, 'state', 'open')
        call('HDEL', job_record, 'finished_at')
        call('PERSIST', job_record)
        note('job', job, 'is open again')
    end
end

if ARGV[3] == 'batch' then
    repair_batch(ARGV[4])
    return done
end
count_all(shards)
for _, entry in ipairs(broken) do
    call('HSET', P .. 'unreadable', entry[1], table.concat(entry[2], ' '))
    call('XDEL', P .. 'results', entry[1])
    call('XACK', P .. 'results', 'settlement', entry[1])
    note('results entry', entry[1], 'set aside as unreadable')
end
for _, id in ipairs(call('HKEYS', P .. 'unsettled')) do
    if #call('XRANGE', P .. 'results', id, id) == 0 then call('HDEL', P .. 'unsettled', id) end
end
local stamp = string.format('%d', now())
local jobs = {}
if ARGV[3] == 'job_records' then
    for _, job in ipairs(call('ZRANGE', P .. 'jobs', 0, -1)) do jobs[job] = true end
else
    for i = 4, #ARGV do jobs[ARGV[i]] = true end
end
for job, n in pairs(open) do
    if n > 0 then jobs[job] = true end
end
local adding = adding_campaigns()
for id in pairs(adding) do jobs[id] = true end
for job in pairs(jobs) do
    repair_adding(job, adding[job], stamp)
    repair_record(job, stamp)
end
local total, load = 0, call('HGET', P .. 'load', 'open') or '0'
for _, n in pairs(open) do total = total + n end
if tonumber(load) ~= total then
    call('HSET', P .. 'load', 'open', total)
    note('load was', load, 'of', total)
end
return done
