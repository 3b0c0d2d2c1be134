-- Adds to counts in job records and other hashes, even if their fields are damaged.
-- Uses base, events.

-- Copies unreadable data to the hash `unreadable`, because the caller then deletes the data at its old place. The hash maps names
-- to bytes. It keeps at most 1,000 originals of at most 1 MiB each. Returns '' if the original is kept. Otherwise, returns the
-- text that the caller appends to the event's `reason`.
local UNREADABLE = P .. 'unreadable'

local function keep_unreadable(name, bytes)
    local kept = redis.pcall('HLEN', UNREADABLE)
    if type(kept) ~= 'number' or kept >= 1000 then return '; its original is not kept, as there are too many' end
    if #bytes > 1048576 then return '; its original is not kept, as it is larger than 1 MiB' end
    call('HSETNX', UNREADABLE, name, bytes)
    return ''
end

-- Resets a field that must be a whole number but is not. The field's text is kept in `unreadable`, and the field counts from 0.
-- After a reset in a job record, the job's counts do not add up, so `fsck` reports the job.
local function reset_field(key, field, text)
    local name = key:sub(#P + 1):gsub('^job:', 'job ') .. ' ' .. field
    local loss = keep_unreadable(name, text)
    call('HDEL', key, field)
    add_event('data.unreadable', string.format('%d', now()), 'entry', name, 'reason', 'holds no number' .. loss)
end

-- Deletes a job record that is not a hash. Its bytes are kept in `unreadable`.
local function drop_record(job)
    local key = P .. 'job:' .. job
    local bytes = call('DUMP', key)
    if not bytes then return end
    local loss = keep_unreadable('job ' .. job, bytes)
    call('DEL', key)
    add_event('data.unreadable', string.format('%d', now()), 'job', job, 'reason', 'the job record is not a hash' .. loss)
end

-- Adds a number to a field of a hash, even if the field is damaged. Returns the sum; nil if the key is not a hash.
local function increment(key, field, n)
    local sum = redis.pcall('HINCRBY', key, field, n)
    if type(sum) ~= 'table' then return sum end
    local text = redis.pcall('HGET', key, field)
    if type(text) ~= 'string' then return nil end
    reset_field(key, field, text)
    return call('HINCRBY', key, field, n)
end

-- Adds sign * sums[job] to `field` in the record of each job in `sums`. These jobs have open positions, so their records exist.
-- If one record is unreadable, the other records are still updated.
local function add_to_records(sums, field, sign)
    for job, n in pairs(sums) do
        if not increment(P .. 'job:' .. job, field, texts[sign * n]) then drop_record(job) end
    end
end
