-- Counts the contents of an app's queues and results stream, for `check_accounting` and `repair`.
--
-- `faults` collects the faults. Three tables count positions by job: `open` counts all open positions, `in_flight` counts
-- positions with a worker or in the results stream, and `delayed` counts delayed positions. `broken` contains entries that cannot
-- be read.
-- Uses base, batches.
local faults, seen, open, in_flight, delayed, broken = {}, {}, {}, {}, {}, {}
local function add_fault(...) faults[#faults + 1] = table.concat({ ... }, ' ') end
local function add(sums, job, n) sums[job] = (sums[job] or 0) + n end

-- Returns whether the table of job parts of a body can be read and lists as many positions as the map.
local function is_readable(body, map)
    local positions = 0
    local isReadable = pcall(each_job_part, body, function(_, _, last) positions = last end)
    return isReadable and positions == #map
end

local function check(id, where, sums)
    if seen[id] then add_fault('batch', id, 'is in', seen[id], 'and in', where) end
    local isSecond = seen[id]
    seen[id] = where
    local s, body = load_state(id), call('HGET', BODIES, id)
    if not s then return add_fault('batch', id, 'in', where, 'has no state') end
    if not body then return add_fault('batch', id, 'in', where, 'has no body') end
    local is_in_flight, open_positions = where:sub(1, 9) == 'in_flight', count_open(s.map, 1, -1)
    if open_positions ~= s.open then add_fault('batch', id, 'counts', s.open, 'open of', open_positions) end
    if open_positions == 0 and not (s.map:find('p', 1, true) and where == 'paused') then
        add_fault('batch', id, 'in', where, 'has nothing open')
    end
    if s.granted > #s.map then add_fault('batch', id, 'grants', s.granted, 'of', #s.map) end
    if (s.worker ~= '') ~= is_in_flight then add_fault('batch', id, 'in', where, 'stamped', s.worker) end
    if not is_in_flight and s.granted ~= 0 then add_fault('batch', id, 'in', where, 'grants', s.granted) end
    if not is_readable(body, s.map) then return add_fault('batch', id, 'in', where, 'cannot be read') end
    if isSecond then return end
    each_job_part(body, function(job, a, b)
        local n = count_open(s.map, a, b)
        local _, paused_count = s.map:sub(a, b):gsub('p', '')
        add(open, job, n + paused_count)
        if sums then add(sums, job, n) end
    end)
end

local function count_shard(nn)
    for _, list in ipairs({ 'ready', 'bulk', 'in_flight' }) do
        for _, id in ipairs(call('LRANGE', P .. list .. ':' .. nn, 0, -1)) do
            if id:match('^(%d+)%.') ~= nn then add_fault('batch', id, 'is in', list, nn) end
            if list ~= 'in_flight' and id:match('^%d+%.(%a)') ~= (list == 'ready' and 'h' or 'b') then
                add_fault('batch', id, 'is in', list)
            end
            check(id, list .. ':' .. nn, list == 'in_flight' and in_flight or nil)
        end
    end
end

-- Returns the offset after n texts, each with its length before it and `extra` bytes after it.
local function skip_texts(entry, at, n, extra)
    for _ = 1, n do at = at + 1 + entry:byte(at) + extra end
    return at
end

-- The positions of a results entry are in flight until the entry is settled.
local function entry_items(entry, sums)
    local at = 2
    if entry:byte(1) ~= 1 then error('a format of another version') end
    while at <= #entry do
        local kind, job, n
        kind, job, n, at = struct.unpack('>c1Bc0I2', entry, at)
        add(sums, job, n)
        if kind == 'D' then
            local all
            all, at = struct.unpack('>B', entry, at)
            if all == 1 then at = skip_texts(entry, at, n, 0) end
            if all == 2 then at = at + 8 * n end
        elseif kind == 'F' then
            at = skip_texts(entry, at, 2, 0) + 3
            if entry:byte(at - 1) == 2 then at = skip_texts(entry, at, 1, 0) end
            at = skip_texts(entry, at + 2, n, 8)
        elseif kind == 'E' then
            at = skip_texts(entry, at, 1, 0)
            at = skip_texts(entry, at + 1, n, 0)
        elseif kind == 'R' then
            at = skip_texts(entry, at + 3, 1, 0)
            local length
            length, at = struct.unpack('>I4', entry, at + 4)
            at = at + length
        elseif kind == 'L' then
            local length
            at = skip_texts(entry, at + 2, 1, 0)
            length, at = struct.unpack('>I4', entry, at)
            at = at + length
        else
            error('an item of kind ' .. kind)
        end
    end
    if at ~= #entry + 1 then error('it ends too early') end
end

local function closed_items(f, sums)
    local before = 0
    for run in (f.p .. ','):gmatch('([^,]*),') do
        local a, b = run:match('^(%d+)%-(%d+)$')
        if not a or tonumber(a) <= before or tonumber(a) > tonumber(b) then error('positions that are not runs') end
        before = tonumber(b)
    end
    each_job_part(f.b, function(job, first, last)
        for a, b in f.p:gmatch('(%d+)%-(%d+)') do
            local n = math.min(last, tonumber(b)) - math.max(first, tonumber(a)) + 1
            if n > 0 then add(sums, job, n) end
        end
    end)
end

-- An entry that the coordinators could not settle stays in the stream until `repair` closes it.
local function count_entry(id, words)
    local f, sums = {}, {}
    for i = #words - 1, 1, -2 do f[words[i]] = words[i + 1] end
    local mark = call('HGET', P .. 'unsettled', id)
    if mark then
        broken[#broken + 1] = { id, words }
        return add_fault('results entry', id, 'cannot be settled:', mark:match('^%d+ (.*)$') or mark)
    end
    if not pcall(f.r and entry_items or closed_items, f.r or f, sums) then
        broken[#broken + 1] = { id, words }
        return add_fault('results entry', id, 'cannot be read')
    end
    for job, n in pairs(sums) do
        add(in_flight, job, n)
        add(open, job, n)
    end
end

-- Counts all data outside of the shards' lists.
local function count_rest()
    for _, id in ipairs(call('ZRANGE', P .. 'delayed', 0, -1)) do check(id, 'delayed', delayed) end
    for _, id in ipairs(call('LRANGE', P .. 'paused', 0, -1)) do check(id, 'paused') end
    for _, e in ipairs(call('XRANGE', P .. 'results', '-', '+')) do count_entry(e[1], e[2]) end
end

-- Finds batches that are in no list. Call this function after all lists are counted.
local function find_strays()
    for _, id in ipairs(call('HKEYS', STATES)) do
        if not seen[id] then add_fault('batch', id, 'is nowhere') end
    end
    for _, id in ipairs(call('HKEYS', BODIES)) do
        if not seen[id] and call('HEXISTS', STATES, id) == 0 then add_fault('batch', id, 'has no state') end
    end
end

local function count_all(shards)
    for shard = 0, shards - 1 do count_shard(string.format('%02d', shard)) end
    count_rest()
    find_strays()
end

-- Returns whether a field of a job record should be a number but is not.
local COUNTS = {}
for _, name in ipairs({ 'submitted', 'accepted', 'adding', 'delivered', 'failed', 'expired', 'cancelled', 'in_flight',
    'delayed' }) do
    COUNTS[name] = true
end
local function is_invalid(field, text)
    return (COUNTS[field] or field:sub(1, 7) == 'reason:') and (#text > 16 or not text:match('^%-?%d+$'))
end

-- Returns the campaigns that may add pushes to their jobs. Their job records have the field `adding`, which is 1, and which is
-- included in `accepted`.
local function adding_campaigns()
    local adding = {}
    for _, id in ipairs(call('ZRANGE', P .. 'campaign_ids', 0, -1)) do
        local state = redis.pcall('HGET', P .. 'campaign:' .. id, 'state')
        adding[id] = state == 'scheduled' or state == 'running' or nil
    end
    return adding
end

-- Returns the number of pushes of the partly split job that are in no batch yet.
local head, offset = unpack(call('HMGET', P .. 'intake', 'head', 'offset'))
local function unsplit(job, accepted)
    return head and head ~= '' and head == job and accepted - tonumber(offset) or 0
end
