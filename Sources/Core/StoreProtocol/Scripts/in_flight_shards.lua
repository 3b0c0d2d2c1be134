#!lua flags=no-writes,allow-oom
-- Finds the shards in which a worker had pushes in flight.
--
-- Uses  base, events, batches
-- KEYS  1 prefix
-- ARGV  1 worker; then NN…
-- Reply [number of open positions within the credit of the worker's batches, NN…]
-- Fence none: the script only reads. Again the same reply, until the batches are reclaimed.
local total, shards = 0, {}
for i = 2, #ARGV do
    local sum = 0
    for _, id in ipairs(call('LRANGE', P .. 'in_flight:' .. ARGV[i], 0, -1)) do
        local s = load_state(id)
        if s and s.worker == ARGV[1] then sum = sum + count_open(s.map, 1, s.granted) end
    end
    if sum > 0 then shards[#shards + 1] = ARGV[i] end
    total = total + sum
end
return { total, unpack(shards) }
