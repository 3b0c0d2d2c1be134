#!lua flags=allow-oom
-- Moves delayed batches that are due to their ready lists.
--
-- Uses  base, events, records, batches
-- KEYS  1 prefix
-- ARGV  1 maximum number of batches
-- Reply [ms until the next batch is due or -1, shards woken…]
-- Fence none: the call that removes an id also moves it. OOM allowed.
-- Again the ids are no longer in the set, and nothing happens.
local delayed, t, sums, wakes = P .. 'delayed', now(), {}, {}
for _, id in ipairs(call('ZRANGEBYSCORE', delayed, '-inf', t, 'LIMIT', 0, ARGV[1])) do
    call('ZREM', delayed, id)
    local s, body = load_state(id), call('HGET', BODIES, id)
    if s and body then
        local list, nn = ready_list(id)
        sum_open(sums, body, s)
        call('RPUSH', list, id)
        wakes[nn] = true
    end
end
add_to_records(sums, 'delayed', -1)
local next = call('ZRANGE', delayed, 0, 0, 'WITHSCORES')[2]
local reply = wake(wakes)
table.insert(reply, 1, next and math.max(0, tonumber(next) - t) or -1)
return reply
