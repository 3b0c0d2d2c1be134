#!lua flags=allow-oom
-- Adds records to suppression lists, and tells whoever serves the shards.
--
-- KEYS  1 prefix
-- ARGV  1 records that a shard's list keeps at most; 2 this portion's name, or ""; 3 scopes, scopes × (field, text);
--       records; records × (NN, record, n, n words of an event; n may be 0)
-- Reply records added; 0 when the portion of this name was added before
-- Fence none: what is said of a token later counts. OOM allowed: a list has a bound, and what the feedback service has
--       told it never tells again.
-- Again a portion with a name is not added twice in a row; one without is added once more, which says the same.
local suppression, nscopes = P .. 'suppression', tonumber(ARGV[3])
local i = 4 + 2 * nscopes
if ARGV[2] ~= '' then
    if call('HGET', suppression, 'portion') == ARGV[2] then return 0 end
    call('HSET', suppression, 'portion', ARGV[2])
end
for k = 4, i - 2, 2 do call('HSETNX', P .. 'scopes', ARGV[k], ARGV[k + 1]) end
local stamp, last, count = string.format('%d', now()), {}, tonumber(ARGV[i])
i = i + 1
for _ = 1, count do
    last[ARGV[i]] = suppress(ARGV[i], ARGV[i + 1], ARGV[1])
    i = i + 2
    i = ARGV[i] == '0' and i + 1 or tell_next(stamp, i)
end
local rung = {}
for nn, id in pairs(last) do
    call('HSET', suppression, nn, id)
    rung[#rung + 1] = nn
end
table.sort(rung)
if #rung > 0 then call('PUBLISH', P .. 'bell', 's ' .. table.concat(rung, ' ')) end
return count
