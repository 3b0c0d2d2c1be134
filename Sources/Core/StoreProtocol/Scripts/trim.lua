#!lua flags=allow-oom
-- Drops dead letters, and entries of the audit, that are too old or too many.
--
-- Uses  base, events, records, dead_letters
-- KEYS  1 prefix
-- ARGV  1 pushes and 2 bytes of letters kept at most; 3 ms: older letters go; 4 bytes of the audit kept at most; 5 ms: older
--       entries go; 6 letters, and entries, at most
-- Reply 1 when there are more to drop, else 0
-- Fence none: the call that removes a letter also subtracts it. OOM allowed.
-- Again the letters are gone.
local n = {}
for i = 1, 6 do n[i] = tonumber(ARGV[i]) end
local has_letters = trim_dead_letters(n[1], n[2], n[3], n[6])
local has_audit = trim_audit(n[4], n[5], n[6])
return (has_letters or has_audit) and 1 or 0
