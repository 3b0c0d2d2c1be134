#!lua flags=allow-oom
-- Writes an event for producers, of a kind that no other script writes.
--
-- Uses  base, events
-- KEYS  1 prefix
-- ARGV  1 a unique name for this event; 2 type; then field, value…
-- Reply 1, or 0: the event was written before
-- Fence none. OOM allowed.
-- Again the event is not written twice: its name is kept for a minute.
if not call('SET', P .. 'event_written:' .. ARGV[1], '1', 'NX', 'EX', 60) then return 0 end
add_event(ARGV[2], now(), unpack(ARGV, 3))
return 1
