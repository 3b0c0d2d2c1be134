-- Counts in job records and other hashes, whatever their fields hold.
-- Uses base, events.

-- Keeps the original of what cannot be read, so that it blocks nothing and is not lost: a hash, name to bytes, a thousand of
-- at most 1 MiB. Returns what an event's reason adds when it is not kept.
local UNREADABLE = P .. 'unreadable'

local function keep_unreadable(name, bytes)
    local kept = redis.pcall('HLEN', UNREADABLE)
    if type(kept) ~= 'number' or kept >= 1000 then return '; its original is not kept, as there are too many' end
    if #bytes > 1048576 then return '; its original is not kept, as it is larger than 1 MiB' end
    call('HSETNX', UNREADABLE, name, bytes)
    return ''
end

-- A field that must hold a whole number and does not: its text is kept, and it counts from 0 again. `fsck` names the sum that
-- is wrong then.
local function reset_field(key, field, text)
    local name = key:sub(#P + 1):gsub('^job:', 'job ') .. ' ' .. field
    local loss = keep_unreadable(name, text)
    call('HDEL', key, field)
    add_event('data.unreadable', string.format('%d', now()), 'entry', name, 'reason', 'holds no number' .. loss)
end

-- A job record that is not a hash goes: the job has no record any more.
local function drop_record(job)
    local key = P .. 'job:' .. job
    local bytes = call('DUMP', key)
    if not bytes then return end
    local loss = keep_unreadable('job ' .. job, bytes)
    call('DEL', key)
    add_event('data.unreadable', string.format('%d', now()), 'job', job, 'reason', 'the job record is not a hash' .. loss)
end

-- Adds to a field of a hash, whatever the field holds. Returns the sum; nil when the key is not a hash.
local function increment(key, field, n)
    local sum = redis.pcall('HINCRBY', key, field, n)
    if type(sum) ~= 'table' then return sum end
    local text = redis.pcall('HGET', key, field)
    if type(text) ~= 'string' then return nil end
    reset_field(key, field, text)
    return call('HINCRBY', key, field, n)
end

-- Adds sign * sums[job] to a field of the job records. They exist: a record is kept while its job has open positions. One that
-- cannot be read does not keep the others from being counted.
local function add_to_records(sums, field, sign)
    for job, n in pairs(sums) do
        if not increment(P .. 'job:' .. job, field, texts[sign * n]) then drop_record(job) end
    end
end
