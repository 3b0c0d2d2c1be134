#!lua flags=allow-oom
-- Returns unfinished batches of a worker that has none of their pushes in flight.
--
-- Uses  base, events, records, pauses, finishing, batches, cancelling, paused_positions
-- KEYS  1 prefix
-- ARGV  1 shard token; 2 worker; then (batch, delivery)…, all of one shard
-- Reply number of batches put back. They are put at the head of their lists, but behind older batches that were put back before
-- Fence token, worker and delivery. OOM allowed.
-- Again the batches are no longer assigned to the worker, and nothing happens.
--
-- This script closes pushes of cancelled jobs, because a paused app has no checkouts that would close them. The worker guarantees
-- that each open position is unsent, or that the gateway refused it without processing it. So no position becomes a suspect, and
-- no crash is counted.
local _, nn = ready_list(ARGV[3] or '0.h')
if call('HGET', P .. 'owners', nn) ~= ARGV[1] then return { err = 'FENCED ' .. nn } end
local deliveries, in_flight = {}, P .. 'in_flight:' .. nn
for i = 3, #ARGV, 2 do deliveries[ARGV[i]] = tonumber(ARGV[i + 1]) end
local has_cancelled = has_cancels()
local ids, sums, moved = call('LRANGE', in_flight, 0, -1), {}, 0
for i = #ids, 1, -1 do
    local id = ids[i]
    if deliveries[id] then
        local s = load_state(id)
        if s and s.worker == ARGV[2] and s.deliveries == deliveries[id] then
            local body = call('HGET', BODIES, id)
            sum_open(sums, body, s)
            s.worker, s.granted = '', 0
            if has_cancelled then cancel_positions(s, body) end
            if s.open > 0 then
                save_state(id, s)
                return_batch(ready_list(id), id)
                call('LREM', in_flight, -1, id)
            else
                call('LREM', in_flight, -1, id)
                end_or_pause(id, s)
            end
            moved = moved + 1
        end
    end
end
add_to_records(sums, 'in_flight', -1)
if has_cancelled then count_cancelled() end
if moved > 0 then wake({ [nn] = true }) end
return moved
