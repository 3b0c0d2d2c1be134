-- Adds to counts in job records and other hashes, even if their fields are damaged.
-- Uses base, events.

-- Keeps the original of unreadable data, so that it blocks nothing and is not lost. The hash maps a name to bytes, with at most
-- 1,000 originals of 1 MiB each. Returns the text to add to an event's reason if the original is not kept.
local UNREADABLE = P .. 'unreadable'

local function keep_unreadable(name, bytes)
    local kept = redis.pcall('HLEN', UNREADABLE)
    if type(kept) ~= 'number' or kept >= 1000 then return '; its original is not kept, as there are too many' end
    if #bytes > 1048576 then return '; its original is not kept, as it is larger than 1 MiB' end
    call('HSETNX', UNREADABLE, name, bytes)
    return ''
end

-- Resets a field that must be a whole number and is not. The field's text is kept, and the count starts from 0. `fsck` then
-- reports the wrong sum.
local function reset_field(key, field, text)
    local name = key:sub(#P + 1):gsub('^job:', 'job ') .. ' ' .. field
    local loss = keep_unreadable(name, text)
    call('HDEL', key, field)
    add_event('data.unreadable', string.format('%d', now()), 'entry', name, 'reason', 'holds no number' .. loss)
end

-- Deletes a job record that is not a hash. The job then has no record.
local function drop_record(job)
    local key = P .. 'job:' .. job
    local bytes = call('DUMP', key)
    if not bytes then return end
    local loss = keep_unreadable('job ' .. job, bytes)
    call('DEL', key)
    add_event('data.unreadable', string.format('%d', now()), 'job', job, 'reason', 'the job record is not a hash' .. loss)
end

-- Adds to a field of a hash, also if the field is damaged. Returns the sum; nil if the key is not a hash.
local function increment(key, field, n)
    local sum = redis.pcall('HINCRBY', key, field, n)
    if type(sum) ~= 'table' then return sum end
    local text = redis.pcall('HGET', key, field)
    if type(text) ~= 'string' then return nil end
    reset_field(key, field, text)
    return call('HINCRBY', key, field, n)
end

-- Adds sign * sums[job] to a field of the job records. The records exist while their jobs have open positions. An unreadable
-- record does not prevent that the other records are updated.
local function add_to_records(sums, field, sign)
    for job, n in pairs(sums) do
        if not increment(P .. 'job:' .. job, field, texts[sign * n]) then drop_record(job) end
    end
end
