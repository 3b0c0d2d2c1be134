#!lua flags=allow-oom
-- Appends outcomes of a batch's positions to the results stream, and raises the worker's send credit.
--
-- Uses  base, events, records, pauses, finishing, batches, suspicion, cancelling, paused_positions
-- KEYS  1 prefix
-- ARGV  1 shard token; 2 worker; 3 batch; 4 delivery; 5 the worker wants credit up to this position; 6 facts 0/1 (the entry
--       contains only delivered and failed items); 7 runs: (first u16, last u16)…, big-endian, ascending; 8 entry or "";
--       9 positions that the caller expects to be open after this, or "": do not compare
-- Reply [open, granted, done 0/1, stale, taken 0/1], and the map if `open` is not as expected: Redis lost recent
--       writes, or another owner reported outcomes. [map, granted, stale] if a position was not open: nothing happened.
--       stale: 0 no; 1 the shard has another owner; 2 another worker has the batch, or this is an older delivery
-- Fence decisions (more credit, retries, expiry) need token, worker and delivery. Facts are accepted from any worker while their
--       positions are open. If a stale report contains more than facts, the script does nothing.
-- OOM   allowed.
-- Again the positions are no longer open: the reply is the map (or done), and nothing is appended twice.
--
-- The credit of a suspect batch grows by one group at a time (`group_limit`).
-- If an entry contains more than facts, it is appended with the batch's lane, because its retries stay in that lane.

-- Returns the last position that may get credit. If the first open position is a suspect, this is the last of the first `group`
-- open suspects. Otherwise, it is the last position of the batch.
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
        -- Positions that were paused, or that no worker had, were not counted as in flight. They are counted as in flight now,
        -- until the entry is settled.
        local open = s.worker == '' and '[.p]' or 'p'
        sums = {}
        each_job_part(call('HGET', BODIES, id), function(job, a, b)
            local _, before = map:sub(a, b):gsub(open, '')
            local _, after = s.map:sub(a, b):gsub(open, '')
            if before > after then sums[job] = (sums[job] or 0) + before - after end
        end)
    end
    -- Most entries contain only facts and belong to lane high. These entries omit the lane, to save memory.
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
            -- The next group gets credit only after the previous group is reported.
            if first <= c.suspect and first <= s.granted then want = s.granted end
        end
    end
    if want > s.granted then s.granted, raised = want, true end
end
if raised or #runs > 0 then save_state(id, s) end
local reply = { s.open, s.granted, 0, stale, 1 }
if s.open ~= (tonumber(ARGV[9]) or s.open) then reply[6] = s.map end
return reply
