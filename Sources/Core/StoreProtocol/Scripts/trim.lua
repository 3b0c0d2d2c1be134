#!lua flags=allow-oom
-- Deletes dead letters, and entries of the audit of outcomes, that are too old or too many.
--
-- Uses  base, events, records, dead_letters
-- KEYS  1 prefix
-- ARGV  1 maximum pushes and 2 bytes of dead letters; 3 ms: older dead letters are deleted; 4 maximum bytes of the audit;
--       5 ms: older entries are deleted; 6 maximum number of dead letters, and of entries, in one call
-- Reply 1 if more must be deleted, else 0
-- Fence none: the call that removes a dead letter also subtracts its counts. OOM allowed.
-- Again the dead letters no longer exist, and nothing happens.
local n = {}
for i = 1, 6 do n[i] = tonumber(ARGV[i]) end
local has_letters = trim_dead_letters(n[1], n[2], n[3], n[6])
local has_audit = trim_audit(n[4], n[5], n[6])
return (has_letters or has_audit) and 1 or 0
