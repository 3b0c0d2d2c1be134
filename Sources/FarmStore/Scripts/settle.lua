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
-- Whatever can fail does so before the first effect, and then nothing is booked: words that are not as agreed, accounts
-- that hold no numbers, keys of another type. The entry stays in the stream.
local keep, most, nentries = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local results, t = P .. 'results', now()
local stamp = string.format('%d', t)
local i = 4

local function count(text)
    local n = tonumber(text)
    if not n or n < 0 or n % 1 ~= 0 then error('no count: ' .. tostring(text)) end
    return n
end
count(keep)
count(most)

-- Packed jobs as one flat list: id, delivered, failed, expired, cancelled, waiting, maybe duplicated, reasons or false.
local function read_jobs(packed)
    local jobs, n, at = {}, 0, 1
    local id, d, f, e, x, w, m, reasons
    while at <= #packed do
        id, d, f, e, x, w, m, reasons, at = struct.unpack('>Bc0I4I4I4I4I4I4B', packed, at)
        local names = false
        if reasons > 0 then
            names = {}
            for _ = 1, reasons do
                local reason, times
                reason, times, at = struct.unpack('>Bc0I4', packed, at)
                names[reason] = (names[reason] or 0) + times
            end
        end
        jobs[n + 1], jobs[n + 2], jobs[n + 3], jobs[n + 4] = id, d, f, e
        jobs[n + 5], jobs[n + 6], jobs[n + 7], jobs[n + 8] = x, w, m, names
        n = n + 8
    end
    return jobs
end

-- Reads an entry's words without any effect. Returns its jobs.
local hasRetries, hasDead = false, false
local function check_entry(at, words)
    local last = at + words
    if last - 1 > #ARGV then error('words are missing') end
    local jobs, retries = read_jobs(ARGV[at]), count(ARGV[at + 1])
    at = at + 2
    for _ = 1, retries do
        if not ARGV[at]:match('^%d+$') or not ARGV[at + 1]:match('^[hb]$') then error('no list to try again') end
        count(ARGV[at + 2])
        if count(ARGV[at + 3]) > 65535 then error('too large a batch') end
        at = at + 5
        hasRetries = true
    end
    local dead = count(ARGV[at])
    hasDead = hasDead or dead > 0
    at = at + 1 + 2 * dead
    local events = count(ARGV[at])
    at = at + 1
    for _ = 1, events do
        local n = count(ARGV[at])
        if n < 2 or n % 2 == 1 or n > 1000 then error('no event') end
        at = at + 1 + n
    end
    if at ~= last then error('other words than agreed') end
    return jobs
end

-- What the accounts hold now: accepted, in flight, delivered, failed, expired, cancelled; false: there is no account.
local accounts = {}
local function check_field(account, field)
    local n = call('HGET', account, field)
    if n and not tonumber(n) then error(account .. ' holds ' .. n) end
end
local function read_account(jobs, i)
    local id, account = jobs[i], P .. 'job:' .. jobs[i]
    if accounts[id] == nil then
        local old = call('HMGET', account, 'accepted', 'in_flight', 'delivered', 'failed', 'expired', 'cancelled')
        accounts[id] = old[1] and old
        for k = 1, 6 do
            local n = tonumber(old[k] or 0)
            if not n then error(account .. ' holds ' .. old[k]) end
            old[k] = n
        end
    end
    if jobs[i + 5] > 0 then check_field(account, 'waiting') end
    if jobs[i + 6] > 0 then check_field(account, 'maybe_duplicated') end
    if jobs[i + 7] then
        for reason in pairs(jobs[i + 7]) do check_field(account, 'reason:' .. reason) end
    end
end

local entries = {}
for k = 1, nentries do
    local words = count(ARGV[i + 1])
    local entry = { id = ARGV[i], at = i + 2, jobs = check_entry(i + 2, words) }
    for n = 1, #entry.jobs, 8 do read_account(entry.jobs, n) end
    entries[k] = entry
    i = i + 2 + words
end
call('XLEN', P .. 'events')
count(math.abs(tonumber(call('HGET', P .. 'load', 'open') or '0') or 0.5))
if hasRetries then
    call('ZCARD', P .. 'delayed')
    call('HLEN', STATES)
    call('HLEN', BODIES)
end
if hasDead then call('HLEN', P .. 'invalid') end

local jobs, order, acks, invalid = {}, {}, {}, {}
local function book_jobs(list)
    for n = 1, #list, 8 do
        local id, names = list[n], list[n + 7]
        local job = jobs[id]
        if not job then
            job = { 0, 0, 0, 0, 0, 0 }
            jobs[id], order[#order + 1] = job, id
        end
        for k = 1, 6 do job[k] = job[k] + list[n + k] end
        if names then
            job.reasons = job.reasons or {}
            for reason, times in pairs(names) do job.reasons[reason] = (job.reasons[reason] or 0) + times end
        end
    end
end

local function book_entry(entry)
    book_jobs(entry.jobs)
    local at = entry.at + 2
    for k = 1, tonumber(ARGV[entry.at + 1]) do
        local id = ARGV[at] .. '.' .. ARGV[at + 1] .. '.r' .. entry.id .. '.' .. k
        add_batch(id, ARGV[at + 3], ARGV[at + 4])
        call('ZADD', P .. 'delayed', t + tonumber(ARGV[at + 2]), id)
        at = at + 5
    end
    local dead = tonumber(ARGV[at])
    at = at + 1
    for _ = 1, dead do
        invalid[#invalid + 1] = ARGV[at]
        invalid[#invalid + 1] = ARGV[at + 1]
        at = at + 2
    end
    local events = tonumber(ARGV[at])
    at = at + 1
    for _ = 1, events do at = tell_next(stamp, at) end
end

local booked = 0
for k = 1, nentries do
    local entry = entries[k]
    acks[k] = entry.id
    if call('XDEL', results, entry.id) == 1 then
        booked = booked + 1
        book_entry(entry)
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
    local job, account, old = jobs[id], P .. 'job:' .. id, accounts[id]
    ended = ended + job[1] + job[2] + job[3] + job[4]
    if old then
        local sum, moved, n = 0, job[5], 2
        local changed = { 'in_flight' }
        for k = 1, 4 do
            local value, more = old[k + 2], job[k]
            if more > 0 then
                value = value + more
                changed[n + 1], changed[n + 2] = names[k], texts[value]
                n = n + 2
                moved = moved + more
                old[k + 2] = value
            end
            sum = sum + value
        end
        changed[2] = texts[old[2] - moved]
        local ends = sum == old[1]
        if ends then
            changed[n + 1], changed[n + 2], changed[n + 3], changed[n + 4] = 'state', 'finished', 'finished_at', stamp
        end
        call('HSET', account, unpack(changed))
        if job[5] > 0 then call('HINCRBY', account, 'waiting', job[5]) end
        if job[6] > 0 then call('HINCRBY', account, 'maybe_duplicated', job[6]) end
        if job.reasons then
            for reason, times in pairs(job.reasons) do call('HINCRBY', account, 'reason:' .. reason, times) end
        end
        if ends then
            finished = finished + 1
            tell_finished(id, stamp, keep, texts[old[1]], texts[old[3]], texts[old[4]], texts[old[5]], texts[old[6]])
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
