#!lua flags=allow-oom
-- Makes the delayed batches of a job due now.
--
-- Uses  base, events, records, batches
-- KEYS  1 prefix
-- ARGV  1 job; 2 number of delayed batches that earlier calls examined and left; 3 maximum number of batches to examine
-- Reply [batches made due, pushes in them, number of batches examined and left, or -1 at the end]
-- Fence none: the call that removes an id also moves it. OOM allowed.
-- Again the batches are ready, and nothing happens.
--
-- The batches go to the end of their lists, in the order of their due times. A batch that also contains pushes of other jobs
-- stays delayed with the pushes of those jobs. The script closes the job's pushes in that batch, and adds a second batch with the
-- same body in which only the job's pushes are open.
local job, kept, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local delayed, wakes, moved, batches, sums = P .. 'delayed', {}, 0, 0, {}
local clock = call('TIME')
local place = string.format('%x%05x', clock[1], clock[2])

-- Returns two maps of a batch: in the first, only the job's positions are open; in the second, only the positions of other jobs.
local function part(s, body)
    local job_map, other_map = {}, {}
    each_job_part(body, function(owner, first, last)
        local open = s.map:sub(first, last)
        local closed = string.rep('x', last - first + 1)
        job_map[#job_map + 1] = owner == job and open or closed
        other_map[#other_map + 1] = owner == job and closed or open
    end)
    return table.concat(job_map), table.concat(other_map)
end

local function promote_batch(k, id)
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
for k, id in ipairs(ids) do batches = batches + promote_batch(k, id) end
add_to_records(sums, 'delayed', -1)
wake(wakes)
return { batches, sums[job] or 0, #ids < most and -1 or kept + #ids - moved }
