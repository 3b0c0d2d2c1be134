#!lua flags=allow-oom
-- Reports positions of a batch to the results stream, and raises the worker's credit.
--
-- Uses  base, events, records, pauses, finishing, batches, suspicion, cancelling, paused_positions
-- KEYS  1 prefix
-- ARGV  1 shard token; 2 worker; 3 batch; 4 delivery; 5 positions wanted up to; 6 facts 0/1 (the entry holds
--       delivered and failed only); 7 runs: (first u16, last u16)…, big-endian, ascending; 8 entry or "";
--       9 positions open after this by the caller's count, or "": they are not compared
-- Reply [open, granted, done 0/1, stale, taken 0/1] and, when `open` is not what the caller says, the map: Redis went
--       back in time, or another owner reported outcomes. [map, granted, stale] when a position was not open: nothing happened.
--       stale: 0 no; 1 the shard has another owner; 2 the batch is another worker's, or this is an older delivery
-- Fence decisions (more credit, retries, expiry) need token, worker and delivery; facts are taken from anyone
--       while their positions are open. Stale and not only facts: not taken, nothing happened.
-- OOM   allowed.
-- Again the positions are no longer open: the answer is the map (or done), nothing is appended twice.
--
-- The credit of a suspect batch goes on by a group at a time (`group_limit`).
-- An entry that is not only facts is appended with the batch's lane: what it retries stays in that lane.

-- How far the credit may go: `group` open positions from the first one, if that is a suspect.
local function group_limit(map, c)
    local last = map:find('.', 1, true)
    if not last or last > c.suspect then return #map end
    for _ = 2, c.group do
        local next = map:find('.', last + 1, true)
        if not next or next > c.suspect then break end
        last = next
    end
    return last
end

local id, entry = ARGV[3], ARGV[8]
local list, nn = ready_list(id)
local s = load_state(id)
if not s then return { 0, 0, 1, 0, 1 } end
local stale = 0
if call('HGET', P .. 'owners', nn) ~= ARGV[1] then
    stale = 1
elseif s.worker ~= ARGV[2] or s.deliveries ~= tonumber(ARGV[4]) then
    stale = 2
end
if stale > 0 and ARGV[6] ~= '1' then return { s.open, s.granted, 0, stale, 0 } end

local runs, map = ARGV[7], s.map
if #runs > 0 then
    local parts, n, next, at, handed = {}, 0, 1, 1, 0
    while at <= #runs do
        local first, last
        first, last, at = struct.unpack('>I2I2', runs, at)
        if first < next or last < first or last > #map then return { err = 'RUNS of ' .. id } end
        local x = map:find('x', first, true)
        if x and x <= last then return { map, s.granted, stale } end
        if first > next then
            n = n + 1
            parts[n] = map:sub(next, first - 1)
        end
        n = n + 1
        parts[n] = string.rep('x', last - first + 1)
        handed = handed + last - first + 1
        next = last + 1
    end
    parts[n + 1] = map:sub(next)
    s.map = table.concat(parts)
    local has_paused, sums = map:find('p', 1, true), nil
    if s.worker == '' or has_paused then
        -- What no worker held is in flight until it is settled.
        local open = s.worker == '' and '[.p]' or 'p'
        sums = {}
        each_segment(call('HGET', BODIES, id), function(job, a, b)
            local _, before = map:sub(a, b):gsub(open, '')
            local _, after = s.map:sub(a, b):gsub(open, '')
            if before > after then sums[job] = (sums[job] or 0) + before - after end
        end)
    end
    -- Facts of high, as most are, go without a word for their lane.
    if ARGV[6] == '1' and not id:find('.b.', 1, true) then
        call('XADD', P .. 'results', '*', 'r', entry)
    else
        call('XADD', P .. 'results', '*', 'r', entry, 'l', id:match('%.(%a)'))
    end
    if sums then
        add_to_records(sums, 'in_flight', 1)
        if call('ZSCORE', P .. 'delayed', id) then add_to_records(sums, 'delayed', -1) end
    end
    s.open = has_paused and count_open(s.map, 1, -1) or s.open - handed
    if s.open == 0 then
        if call('LREM', P .. 'in_flight:' .. nn, 1, id) == 0 and call('LREM', list, 1, id) == 0
            and call('ZREM', P .. 'delayed', id) == 0 then
            call('LREM', P .. 'paused', 1, id)
        end
        end_or_pause(id, s)
        if has_paused then count_cancelled() end
        return { 0, s.granted, 1, stale, 1 }
    end
end

local raised = false
if stale == 0 then
    local want = math.min(tonumber(ARGV[5]), #map)
    if s.suspicion ~= '' and want > s.granted then
        local c, first = load_suspicion(s.suspicion), s.map:find('.', 1, true)
        if c.alone == 1 then
            want = math.min(want, group_limit(s.map, c))
            -- The next group only when the one before is reported.
            if first <= c.suspect and first <= s.granted then want = s.granted end
        end
    end
    if want > s.granted then s.granted, raised = want, true end
end
if raised or #runs > 0 then save_state(id, s) end
local reply = { s.open, s.granted, 0, stale, 1 }
if s.open ~= (tonumber(ARGV[9]) or s.open) then reply[6] = s.map end
return reply
