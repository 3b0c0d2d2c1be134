#!lua flags=allow-oom
-- Makes the delayed batches of a job due now.
--
-- Uses  base, events, records, batches
-- KEYS  1 prefix
-- ARGV  1 job; 2 how many of the delayed batches were looked at and stay; 3 batches to look at, at most
-- Reply [batches made due, pushes in them, how many were looked at and stay or -1 at the end]
-- Fence none: the call that removes an id also moves it. OOM allowed.
-- Again they are ready, and nothing happens.
--
-- They go to the end of their lists in the order in which they were due. Of a batch that other jobs have pushes in, those
-- stay where they are: the job's are closed in it, and open in another one of the same body.
local job, kept, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local delayed, wakes, moved, batches, sums = P .. 'delayed', {}, 0, 0, {}
local clock = call('TIME')
local place = string.format('%x%05x', clock[1], clock[2])

-- The map of a batch in two: what is open of the job, and what is open of others.
local function part(s, body)
    local job_map, other_map = {}, {}
    each_segment(body, function(owner, first, last)
        local open = s.map:sub(first, last)
        local closed = string.rep('x', last - first + 1)
        job_map[#job_map + 1] = owner == job and open or closed
        other_map[#other_map + 1] = owner == job and closed or open
    end)
    return table.concat(job_map), table.concat(other_map)
end

local function make_due(k, id)
    local s, body = load_state(id), call('HGET', BODIES, id)
    if not s or not body then return 0 end
    local isRead, job_map, other_map = pcall(part, s, body)
    if not isRead then return 0 end
    local n = count_open(job_map, 1, -1)
    if n == 0 then return 0 end
    local list, nn = ready_list(id)
    if count_open(other_map, 1, -1) == 0 then
        call('ZREM', delayed, id)
        call('RPUSH', list, id)
        moved = moved + 1
    else
        local own = nn .. '.' .. id:match('%.(%a)') .. '.' .. place .. '.p' .. (kept + k)
        call('HSET', BODIES, own, body)
        save_state(own, { worker = '', deliveries = 0, granted = 0, suspicion = '', open = n, map = job_map })
        s.map, s.open = other_map, s.open - n
        save_state(id, s)
        call('RPUSH', list, own)
    end
    wakes[nn] = true
    sums[job] = (sums[job] or 0) + n
    return 1
end

local ids = call('ZRANGE', delayed, kept, kept + most - 1)
for k, id in ipairs(ids) do batches = batches + make_due(k, id) end
add_to_records(sums, 'delayed', -1)
wake(wakes)
return { batches, sums[job] or 0, #ids < most and -1 or kept + #ids - moved }
