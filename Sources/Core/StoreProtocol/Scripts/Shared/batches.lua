-- Batches: their ids, states, bodies and lists. The functions of this file read only the table of job parts of a body.
-- Uses base, events.

local STATES, BODIES = P .. 'states', P .. 'batches'

-- A batch id is "NN.L.x": the shard, the lane (h or b), and a unique part.
local function ready_list(id)
    local nn, lane = id:match('^(%d+)%.(%a)')
    return P .. (lane == 'b' and 'bulk:' or 'ready:') .. nn, nn
end

-- The state of a batch is "worker|deliveries|granted|suspicion|open|map". In the map, "." is an open position, "p" is a paused
-- position, which is open but not sent, and "x" is a reported position. `open` is the number of dots.
local function load_state(id)
    local s = call('HGET', STATES, id)
    if not s then return nil end
    local w, d, h, c, o, map = s:match('^([^|]*)|(%d+)|(%d+)|([^|]*)|(%d+)|()')
    if not w then return nil end
    return { worker = w, deliveries = tonumber(d), granted = tonumber(h), suspicion = c, open = tonumber(o), map = s:sub(map) }
end

local function state_text(s)
    return string.format('%s|%d|%d|%s|%d|%s', s.worker, s.deliveries, s.granted, s.suspicion, s.open, s.map)
end

local function save_state(id, s) call('HSET', STATES, id, state_text(s)) end

local function drop_batch(id)
    call('HDEL', STATES, id)
    call('HDEL', BODIES, id)
end

-- Returns the state of a new batch.
local function new_state(tokens)
    return '|0|0||' .. tokens .. '|' .. string.rep('.', tokens)
end

local function add_batch(id, tokens, body)
    call('HSET', BODIES, id, body)
    call('HSET', STATES, id, new_state(tokens))
end

-- Puts a returned batch at the head of its ready list, but behind older batches that were returned before. The age comes from the
-- time of the split, which the ids of first attempts contain. The ids of retries contain no such time, so a returned batch of
-- retries goes to the head of the list.
local AGE = '^%d+%.%a%.(%x+)%.(%d+)'

local function return_batch(list, id)
    local moment, number = id:match(AGE)
    local older, place = nil, 0
    while moment and place < 256 do
        local other = call('LINDEX', list, place)
        local m, n = (other or ''):match(AGE)
        if not m or m > moment or m == moment and tonumber(n) > tonumber(number) then break end
        older, place = other, place + 1
    end
    if older then
        call('LINSERT', list, 'AFTER', older, id)
    else
        call('LPUSH', list, id)
    end
end

local function count_open(map, first, last)
    local _, n = map:sub(first, last):gsub('%.', '')
    return n
end

-- Calls f(job, first, last, flags) for each job part of a body. A table entry is: tokens u16, flags u8, id length u8, id.
local function each_job_part(body, f)
    local _, n, at = struct.unpack('>BI2', body)
    local first = 1
    local tokens, flags, job
    for _ = 1, n do
        tokens, flags, job, at = struct.unpack('>I2BBc0', body, at)
        f(job, first, first + tokens - 1, flags)
        first = first + tokens
    end
end

-- For each job in a batch, adds the number of the job's open positions to sums[job].
local function sum_open(sums, body, s)
    local _, n, at = struct.unpack('>BI2', body)
    local whole, last = s.open == #s.map, 0
    local tokens, job
    for _ = 1, n do
        tokens, _, job, at = struct.unpack('>I2BBc0', body, at)
        last = last + tokens
        if not whole then tokens = count_open(s.map, last - tokens + 1, last) end
        if tokens > 0 then sums[job] = (sums[job] or 0) + tokens end
    end
end

-- Quarantines a batch that cannot be read, so that it does not block other batches.
local function quarantine_batch(id, s, list, reason)
    s.worker, s.granted = '', 0
    save_state(id, s)
    call('RPUSH', P .. 'paused', id)
    call('LREM', list, -1, id)
    add_event('batch.quarantined', now(), 'batch', id, 'reason', reason)
end
