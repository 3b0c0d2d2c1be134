#!lua flags=allow-oom
-- Puts a batch aside that its worker cannot make sense of.
--
-- Uses  base, events, records, batches
-- KEYS  1 prefix
-- ARGV  1 shard token; 2 worker; 3 batch; 4 delivery; 5 reason
-- Reply 1, or 0 when the batch is not in the worker's hands
-- Fence token, worker and delivery.
-- OOM   allowed: a batch that cannot be sent must not block the others.
-- Again the batch is no longer stamped with the worker: nothing happens.
--
-- The worker swears that it has sent nothing of it. The reason goes into the events, as `batch.quarantined`.
local id = ARGV[3]
local _, nn = ready_list(id)
if call('HGET', P .. 'owners', nn) ~= ARGV[1] then return { err = 'FENCED ' .. nn } end
local s = load_state(id)
if not s or s.worker ~= ARGV[2] or s.deliveries ~= tonumber(ARGV[4]) then return 0 end
local sums = {}
local body = call('HGET', BODIES, id)
-- Whose pushes they are is unknown when not even the table can be read.
if body then pcall(sum_open, sums, body, s) end
set_aside(id, s, P .. 'in_flight:' .. nn, ARGV[5])
add_to_accounts(sums, 'in_flight', -1)
return 1
