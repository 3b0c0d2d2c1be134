#!lua flags=allow-oom
-- Books results entries: outcomes, retries, dead tokens, events; finishes jobs.
--
-- KEYS  1 prefix
-- ARGV  1 seconds an account is kept; 2 dead tokens kept at most; 3 entries; entries × (id, words of this entry after
--       this one, and these: jobs packed; retries, retries × (NN, h|b, delay in ms, tokens, body);
--       invalid, invalid × (token, timestamp); events, events × (n, n words)).
--       A packed job, big-endian: id length u8, id, delivered u32, failed u32, expired u32, cancelled u32, waiting u32,
--       maybe duplicated u32, reasons u8, reasons × (length u8, reason, count u32)
-- Reply [entries booked, jobs finished]
-- Fence none: XDEL is the guard, an entry exists until it is settled. OOM allowed.
-- Again XDEL finds nothing and the entry's words are skipped.
--
-- What ends is taken off `load`, which split added it to: with or without an account, it is in no batch and no entry.
local keep, most, nentries = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local results, t = P .. 'results', now()
local stamp = string.format('%d', t)
local jobs, order, acks, invalid = {}, {}, {}, {}
local i = 4

local function book_jobs(packed)
    local at, id, d, f, e, x, w, m, reasons = 1, '', 0, 0, 0, 0, 0, 0, 0
    while at <= #packed do
        id, d, f, e, x, w, m, reasons, at = struct.unpack('>Bc0I4I4I4I4I4I4B', packed, at)
        local job = jobs[id]
        if job then
            job[1], job[2], job[3] = job[1] + d, job[2] + f, job[3] + e
            job[4], job[5], job[6] = job[4] + x, job[5] + w, job[6] + m
        else
            job = { d, f, e, x, w, m }
            jobs[id], order[#order + 1] = job, id
        end
        if reasons > 0 then
            job.reasons = job.reasons or {}
            for _ = 1, reasons do
                local reason, n
                reason, n, at = struct.unpack('>Bc0I4', packed, at)
                job.reasons[reason] = (job.reasons[reason] or 0) + n
            end
        end
    end
end

local function book_entry(entry)
    book_jobs(ARGV[i])
    local retries = tonumber(ARGV[i + 1])
    i = i + 2
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
    for _ = 1, events do i = add_event(stamp, i) end
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

-- Numbers are handed to Redis as text: its own conversion of a Lua number is slow.
local texts = setmetatable({}, { __index = function(all, n)
    local text = string.format('%d', n)
    all[n] = text
    return text
end })
local names = { 'delivered', 'failed', 'expired', 'cancelled' }
local finished, ended = 0, 0
for _, id in ipairs(order) do
    local job, account = jobs[id], P .. 'job:' .. id
    ended = ended + job[1] + job[2] + job[3] + job[4]
    local old = call('HMGET', account, 'accepted', 'in_flight', 'delivered', 'failed', 'expired', 'cancelled')
    if old[1] then
        local sum, moved, n = 0, job[5], 2
        local changed = { 'in_flight' }
        for k = 1, 4 do
            local value, more = old[k + 2] or '0', job[k]
            if more > 0 then
                value = texts[tonumber(value) + more]
                changed[n + 1], changed[n + 2] = names[k], value
                n = n + 2
                moved = moved + more
            end
            old[k + 2] = value
            sum = sum + tonumber(value)
        end
        changed[2] = texts[tonumber(old[2] or '0') - moved]
        local ends = sum == tonumber(old[1])
        if ends then
            changed[n + 1], changed[n + 2], changed[n + 3], changed[n + 4] = 'state', 'finished', 'finished_at', stamp
        end
        call('HSET', account, unpack(changed))
        if job[5] > 0 then call('HINCRBY', account, 'waiting', job[5]) end
        if job[6] > 0 then call('HINCRBY', account, 'maybe_duplicated', job[6]) end
        for reason, count in pairs(job.reasons or {}) do call('HINCRBY', account, 'reason:' .. reason, count) end
        if ends then
            finished = finished + 1
            call('EXPIRE', account, keep)
            call('XADD', P .. 'events', 'MAXLEN', '~', '1000000', '*', 'type', 'job.finished', 'at', stamp, 'job', id,
                'accepted', old[1], 'delivered', old[3], 'failed', old[4], 'expired', old[5], 'cancelled', old[6])
        end
    end
end

if ended > 0 then call('HINCRBY', P .. 'load', 'open', -ended) end

if #invalid > 0 then
    local key = P .. 'invalid'
    for k = 1, #invalid, 2 do call('HSET', key, invalid[k], invalid[k + 1]) end
    local over = call('HLEN', key) - most
    if over > 0 then call('HDEL', key, unpack(call('HRANDFIELD', key, math.min(over, 1000)))) end
end
return { booked, finished }
