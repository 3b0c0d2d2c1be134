#!lua flags=allow-oom
-- Books results entries: outcomes, retries, dead tokens, events; finishes jobs.
--
-- KEYS  1 prefix
-- ARGV  1 seconds an account is kept; 2 dead tokens kept at most; 3 entries; entries × (id, words of this entry after
--       this one, and these: jobs, jobs × (id, delivered, failed, expired, cancelled, waiting, maybe duplicated,
--       reasons, reasons × (reason, count)); retries, retries × (NN, h|b, delay in ms, tokens, body);
--       invalid, invalid × (token, timestamp); events, events × (n, n words))
-- Reply [entries booked, jobs finished]
-- Fence none: XDEL is the guard, an entry exists until it is settled. OOM allowed.
-- Again XDEL finds nothing and the entry's words are skipped.
local keep, most, nentries = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local results, t = P .. 'results', now()
local jobs, order, acks, invalid = {}, {}, {}, {}
local i = 4

local function book_job()
    local id = ARGV[i]
    local job = jobs[id]
    if not job then
        job = { 0, 0, 0, 0, 0, 0, reasons = {} }
        jobs[id], order[#order + 1] = job, id
    end
    for k = 1, 6 do job[k] = job[k] + tonumber(ARGV[i + k]) end
    local reasons = tonumber(ARGV[i + 7])
    i = i + 8
    for _ = 1, reasons do
        job.reasons[ARGV[i]] = (job.reasons[ARGV[i]] or 0) + tonumber(ARGV[i + 1])
        i = i + 2
    end
end

local function book_entry(entry)
    local jobs_here = tonumber(ARGV[i])
    i = i + 1
    for _ = 1, jobs_here do book_job() end
    local retries = tonumber(ARGV[i])
    i = i + 1
    for k = 1, retries do
        local id = ARGV[i] .. '.' .. ARGV[i + 1] .. '.r' .. entry .. '.' .. k
        add_batch(id, ARGV[i + 3], ARGV[i + 4])
        call('ZADD', P .. 'delayed', t + tonumber(ARGV[i + 2]), id)
        i = i + 5
    end
    local dead = tonumber(ARGV[i])
    i = i + 1
    for _ = 1, dead do
        invalid[#invalid + 1] = ARGV[i]
        invalid[#invalid + 1] = ARGV[i + 1]
        i = i + 2
    end
    local events = tonumber(ARGV[i])
    i = i + 1
    for _ = 1, events do i = add_event(t, i) end
end

local booked = 0
for _ = 1, nentries do
    local entry, words = ARGV[i], tonumber(ARGV[i + 1])
    i = i + 2
    acks[#acks + 1] = entry
    if call('XDEL', results, entry) == 1 then
        booked = booked + 1
        book_entry(entry)
    else
        i = i + words
    end
end
if #acks > 0 then call('XACK', results, 'gatherers', unpack(acks)) end

local finished = 0
for _, id in ipairs(order) do
    local job, account = jobs[id], P .. 'job:' .. id
    local old = call('HMGET', account, 'accepted', 'delivered', 'failed', 'expired', 'cancelled', 'in_flight', 'waiting',
        'maybe_duplicated')
    if old[1] then
        local changed, sum, moved = {}, 0, job[5]
        for k, name in ipairs({ 'delivered', 'failed', 'expired', 'cancelled' }) do
            local value = tonumber(old[k + 1] or '0') + job[k]
            sum, moved = sum + value, moved + job[k]
            old[k + 1] = value
            if job[k] ~= 0 then changed[#changed + 1] = name; changed[#changed + 1] = value end
        end
        changed[#changed + 1] = 'in_flight'
        changed[#changed + 1] = tonumber(old[6] or '0') - moved
        if job[5] ~= 0 then
            changed[#changed + 1] = 'waiting'
            changed[#changed + 1] = tonumber(old[7] or '0') + job[5]
        end
        if job[6] ~= 0 then
            changed[#changed + 1] = 'maybe_duplicated'
            changed[#changed + 1] = tonumber(old[8] or '0') + job[6]
        end
        if sum == tonumber(old[1]) then
            changed[#changed + 1] = 'state'
            changed[#changed + 1] = 'finished'
            changed[#changed + 1] = 'finished_at'
            changed[#changed + 1] = t
        end
        call('HSET', account, unpack(changed))
        for reason, n in pairs(job.reasons) do call('HINCRBY', account, 'reason:' .. reason, n) end
        if sum == tonumber(old[1]) then
            finished = finished + 1
            call('EXPIRE', account, keep)
            call('ZADD', P .. 'jobs', 'XX', t, id)
            call('XADD', P .. 'events', 'MAXLEN', '~', '1000000', '*', 'type', 'job.finished', 'at', t, 'job', id,
                'accepted', old[1], 'delivered', old[2], 'failed', old[3], 'expired', old[4], 'cancelled', old[5])
        end
    end
end

if #invalid > 0 then
    local key = P .. 'invalid'
    for k = 1, #invalid, 2 do call('HSET', key, invalid[k], invalid[k + 1]) end
    local over = call('HLEN', key) - most
    if over > 0 then call('HDEL', key, unpack(call('HRANDFIELD', key, math.min(over, 1000)))) end
end
return { booked, finished }
