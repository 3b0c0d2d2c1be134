#!lua flags=allow-oom
-- Takes unfinished batches back from a worker that has nothing of them in the air.
--
-- Uses  base, events, records, holds, endings, batches, cancelling, shelving
-- KEYS  1 prefix
-- ARGV  1 shard token; 2 worker; then (batch, delivery)…, all of one shard
-- Reply batches put back, at the head of their lists, behind older ones that were put back before
-- Fence token, worker and delivery. OOM allowed.
-- Again the batches are no longer stamped with the worker: nothing to put back.
--
-- Pushes of jobs that were called back end here: an app that is paused checks nothing out.
-- The worker swears that each open position is unsent or refused unprocessed: no suspects, no crash.
local _, nn = ready_list(ARGV[3] or '0.h')
if call('HGET', P .. 'owners', nn) ~= ARGV[1] then return { err = 'FENCED ' .. nn } end
local deliveries, flight = {}, P .. 'in_flight:' .. nn
for i = 3, #ARGV, 2 do deliveries[ARGV[i]] = tonumber(ARGV[i + 1]) end
local calls_back = has_cancels()
local ids, sums, moved = call('LRANGE', flight, 0, -1), {}, 0
for i = #ids, 1, -1 do
    local id = ids[i]
    if deliveries[id] then
        local s = load_state(id)
        if s and s.worker == ARGV[2] and s.deliveries == deliveries[id] then
            local body = call('HGET', BODIES, id)
            sum_open(sums, body, s)
            s.worker, s.granted = '', 0
            if calls_back then call_back(s, body) end
            if s.open > 0 then
                save_state(id, s)
                return_batch(ready_list(id), id)
                call('LREM', flight, -1, id)
            else
                call('LREM', flight, -1, id)
                put_away(id, s)
            end
            moved = moved + 1
        end
    end
end
add_to_accounts(sums, 'in_flight', -1)
if calls_back then book_cancelled() end
if moved > 0 then ring({ [nn] = true }) end
return moved
