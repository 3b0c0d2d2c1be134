#!lua flags=allow-oom
-- Quarantines a batch that its worker cannot read.
--
-- Uses  base, events, records, batches
-- KEYS  1 prefix
-- ARGV  1 shard token; 2 worker; 3 batch; 4 delivery; 5 reason
-- Reply 1, or 0 if the batch is not assigned to the worker
-- Fence token, worker and delivery.
-- OOM   allowed: a batch that cannot be sent must not block other batches.
-- Again the batch is no longer assigned to the worker, and nothing happens.
--
-- The worker guarantees that it sent no push of the batch. The event `batch.quarantined` contains the reason.
local id = ARGV[3]
local _, nn = ready_list(id)
if call('HGET', P .. 'owners', nn) ~= ARGV[1] then return { err = 'FENCED ' .. nn } end
local s = load_state(id)
if not s or s.worker ~= ARGV[2] or s.deliveries ~= tonumber(ARGV[4]) then return 0 end
local sums = {}
local body = call('HGET', BODIES, id)
-- If the batch's table of job parts cannot be read either, the jobs of its pushes are unknown, so no job record is changed.
if body then pcall(sum_open, sums, body, s) end
quarantine_batch(id, s, P .. 'in_flight:' .. nn, ARGV[5])
add_to_records(sums, 'in_flight', -1)
return 1
