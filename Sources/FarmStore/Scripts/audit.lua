#!lua flags=no-writes,allow-oom
-- Checks the books of an app: every batch in one place, every account equal to what is there.
--
-- KEYS  1 prefix
-- ARGV  1 shards of the farm
-- Reply faults in words; empty when all is well
-- Fence none: it only reads. Again the same answer.
-- Takes time in proportion to what is queued: for tests and for an operator who asks, not for a timer.
local faults, seen, open, flying, waiting, outcomes = {}, {}, {}, {}, {}, 0
local function say(...) faults[#faults + 1] = table.concat({ ... }, ' ') end
local function add(sums, job, n) sums[job] = (sums[job] or 0) + n end

local function check(id, where, sums)
    if seen[id] then say('batch', id, 'is in', seen[id], 'and in', where) end
    seen[id] = where
    local s, body = load_state(id), call('HGET', BODIES, id)
    if not s then return say('batch', id, 'in', where, 'has no state') end
    if not body then return say('batch', id, 'in', where, 'has no body') end
    local dots = count_open(s.map, 1, -1)
    if dots ~= s.open then say('batch', id, 'counts', s.open, 'open of', dots) end
    if dots == 0 then say('batch', id, 'in', where, 'has nothing open') end
    if s.granted > #s.map then say('batch', id, 'grants', s.granted, 'of', #s.map) end
    if (s.worker ~= '') ~= (where:sub(1, 6) == 'flight') then say('batch', id, 'in', where, 'stamped', s.worker) end
    if where:sub(1, 6) ~= 'flight' and s.granted ~= 0 then say('batch', id, 'in', where, 'grants', s.granted) end
    local positions = 0
    each_segment(body, function(job, a, b)
        local n = count_open(s.map, a, b)
        add(open, job, n)
        if sums then add(sums, job, n) end
        positions = b
    end)
    if positions ~= #s.map then say('batch', id, 'has', positions, 'positions and a map of', #s.map) end
end

for shard = 0, tonumber(ARGV[1]) - 1 do
    local nn = string.format('%02d', shard)
    for _, list in ipairs({ 'ready', 'bulk', 'flight' }) do
        for _, id in ipairs(call('LRANGE', P .. list .. ':' .. nn, 0, -1)) do
            if id:match('^(%d+)%.') ~= nn then say('batch', id, 'in', list, nn) end
            if list ~= 'flight' and id:match('^%d+%.(%a)') ~= list:gsub('ready', 'high'):sub(1, 1) then
                say('batch', id, 'in', list)
            end
            check(id, list .. ':' .. nn, list == 'flight' and flying or nil)
        end
    end
end
for _, id in ipairs(call('ZRANGE', P .. 'delayed', 0, -1)) do check(id, 'delayed', waiting) end
for _, id in ipairs(call('LRANGE', P .. 'parked', 0, -1)) do check(id, 'parked') end
for _, id in ipairs(call('HKEYS', STATES)) do if not seen[id] then say('batch', id, 'is nowhere') end end
if call('HLEN', STATES) ~= call('HLEN', BODIES) then say('bodies and states differ in number') end

-- Entries not yet settled: their positions are in the air.
local function skip(entry, at, n, extra)
    for _ = 1, n do at = at + 1 + entry:byte(at) + extra end
    return at
end
local function entry_items(entry)
    local at = 2
    while at <= #entry do
        local kind, job, n
        kind, job, n, at = struct.unpack('>c1Bc0I2', entry, at)
        add(flying, job, n)
        add(open, job, n)
        if kind == 'D' then
            local all
            all, at = struct.unpack('>B', entry, at)
            if all == 1 then at = skip(entry, at, n, 0) end
        elseif kind == 'F' then
            at = skip(entry, at, 2, 0)
            at = skip(entry, at + 5, n, 8)
        elseif kind == 'E' then
            at = skip(entry, at, 1, 0)
            at = skip(entry, at + 1, n, 0)
        elseif kind == 'R' then
            at = skip(entry, at + 3, 1, 0)
            local length
            length, at = struct.unpack('>I4', entry, at + 4)
            at = at + length
        else
            return say('results entry with an item of kind', kind)
        end
    end
end
for _, e in ipairs(call('XRANGE', P .. 'results', '-', '+')) do
    local f = {}
    for i = 1, #e[2], 2 do f[e[2][i]] = e[2][i + 1] end
    if f.r then
        entry_items(f.r)
    else
        each_segment(f.b, function(job, first, last)
            for a, b in f.p:gmatch('(%d+)%-(%d+)') do
                local n = math.min(last, tonumber(b)) - math.max(first, tonumber(a)) + 1
                if n > 0 then
                    add(flying, job, n)
                    add(open, job, n)
                end
            end
        end)
    end
end

local head, offset = unpack(call('HMGET', P .. 'intake', 'head', 'offset'))
local known = {}
for _, job in ipairs(call('ZRANGE', P .. 'jobs', 0, -1)) do
    local account, a = P .. 'job:' .. job, {}
    local flat = call('HGETALL', account)
    for i = 1, #flat, 2 do a[flat[i]] = flat[i + 1] end
    if a.state then
        known[job] = true
        local function n(name) return tonumber(a[name] or '0') end
        local ended = n('delivered') + n('failed') + n('expired') + n('cancelled')
        local unsplit = 0
        if head and head ~= '' and head == job then unsplit = n('accepted') - tonumber(offset) end
        local sum = ended + (open[job] or 0) + unsplit
        if sum ~= n('accepted') then say('job', job, 'accepted', n('accepted'), 'and has', sum) end
        if n('in_flight') ~= (flying[job] or 0) then say('job', job, 'in_flight', n('in_flight'), 'of', flying[job] or 0) end
        if n('waiting') ~= (waiting[job] or 0) then say('job', job, 'waiting', n('waiting'), 'of', waiting[job] or 0) end
        if (a.state == 'finished') ~= (ended == n('accepted')) then say('job', job, 'is', a.state, 'with', ended) end
        local reasons = 0
        for k, v in pairs(a) do if k:sub(1, 7) == 'reason:' then reasons = reasons + tonumber(v) end end
        if reasons > n('failed') then say('job', job, 'has more reasons than failures') end
    end
end
local load, total = tonumber(call('HGET', P .. 'load', 'open') or '0'), 0
for _, n in pairs(open) do total = total + n end
if load ~= total then say('load', load, 'of', total, 'open') end
for job, n in pairs(open) do if n > 0 and not known[job] then say('job', job, 'has', n, 'open and no account') end end
return faults
