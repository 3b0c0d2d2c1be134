#!lua flags=no-writes,allow-oom
-- Counts the elements of an app's queues.
--
-- Uses  base
-- KEYS  1 prefix; 2 inbox
-- ARGV  1 shards of the farm
-- Reply [inbox, taken, delayed, results, paused, open pushes, then per shard: high, bulk, in flight]; numbers of jobs,
--       batches, entries; the number of taken jobs includes those that wait for a look-up
-- Fence none: the script only reads. Again the same reply.
local reply = { call('LLEN', KEYS[2]), call('LLEN', P .. 'taken') + call('LLEN', P .. 'lookups'),
    call('ZCARD', P .. 'delayed'), call('XLEN', P .. 'results'), call('LLEN', P .. 'paused'),
    tonumber(call('HGET', P .. 'load', 'open') or '0') or 0 }
local n = 6
for shard = 0, tonumber(ARGV[1]) - 1 do
    local nn = string.format('%02d', shard)
    reply[n + 1] = call('LLEN', P .. 'ready:' .. nn)
    reply[n + 2] = call('LLEN', P .. 'bulk:' .. nn)
    reply[n + 3] = call('LLEN', P .. 'in_flight:' .. nn)
    n = n + 3
end
return reply
