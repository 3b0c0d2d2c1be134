#!lua flags=no-writes,allow-oom
-- Reads, for each lane, the age of the oldest push in a ready batch or in a batch that a worker checked out.
--
-- Uses  base
-- KEYS  1 prefix
-- ARGV  1 shards of the farm
-- Reply [age in ms of the oldest push of lane high, age of lane bulk], -1 if a lane is empty; ages count from the split, the due
--       time, or the previous attempt's report
-- Fence none: the script only reads. Again the second reply has the ages at the time of the second call.
local t, ages = now(), { -1, -1 }

-- Ids of first attempts contain the time of the split: seconds and five hex digits of microseconds. Ids of delayed batches also
-- contain the due time in ms. Ids of retries contain the time in ms of the report that caused the retry.
local function moment(id)
    local seconds, rest = id:match('^%d+%.%a%.(%x+)(%x%x%x%x%x)%.p?%d+')
    if not seconds then return tonumber(id:match('^%d+%.%a%.r(%d+)')) end
    local due = id:match('%.%d+%.(%x+)$')
    return due and tonumber(due, 16) or tonumber(seconds, 16) * 1000 + math.floor(tonumber(rest, 16) / 1000)
end

-- A list is ordered by age, except for returned batches at its head, so the age of the first batch is a good estimate.
local function read_age(list, lane)
    local id = call('LINDEX', list, 0)
    local since = id and moment(id)
    if not since then return end
    lane = lane or (id:match('^%d+%.(%a)') == 'b' and 2 or 1)
    ages[lane] = math.max(ages[lane], t - since, 0)
end

for shard = 0, tonumber(ARGV[1]) - 1 do
    local nn = string.format('%02d', shard)
    read_age(P .. 'ready:' .. nn, 1)
    read_age(P .. 'bulk:' .. nn, 2)
    read_age(P .. 'in_flight:' .. nn)
end
return ages
