#!lua flags=allow-oom
-- Adds records to suppression lists, and notifies the owners of the shards.
--
-- Uses  base, events, suppression
-- KEYS  1 prefix
-- ARGV  1 maximum records in a shard's list; 2 name of the writer, 3 number of its step, ascending;
--       4 scopes, scopes × (field, text); records; records × (NN, record, n, n words of an event; n may be 0).
--       If the record is "", it is already in the list, and only the event is written
-- Reply number of records; 0 if the writer's step was done before
-- Fence none: later records of a token override earlier ones. OOM allowed: the feedback service never repeats its entries, so a
--       refused call would lose them, and each list has a limit.
-- Again the step is done already: nothing is added or written.
local suppression, writer, nscopes = P .. 'suppression', P .. 'writer:' .. ARGV[2], tonumber(ARGV[4])
local i = 5 + 2 * nscopes
if tonumber(call('GET', writer) or '0') >= tonumber(ARGV[3]) then return 0 end
call('SET', writer, ARGV[3], 'EX', 3600)
for k = 5, i - 2, 2 do call('HSETNX', P .. 'scopes', ARGV[k], ARGV[k + 1]) end
local stamp, last, count = string.format('%d', now()), {}, tonumber(ARGV[i])
i = i + 1
for _ = 1, count do
    if ARGV[i + 1] ~= '' then
        last[ARGV[i]] = suppress(ARGV[i], ARGV[i + 1], ARGV[1])
        report_invalid(ARGV[i + 1])
    end
    i = i + 2
    i = ARGV[i] == '0' and i + 1 or add_next_event(stamp, i)
end
local wakes = {}
for nn, id in pairs(last) do
    call('HSET', suppression, nn, id)
    wakes[#wakes + 1] = nn
end
table.sort(wakes)
if #wakes > 0 then call('PUBLISH', P .. 'wakeups', 's ' .. table.concat(wakes, ' ')) end
return count
