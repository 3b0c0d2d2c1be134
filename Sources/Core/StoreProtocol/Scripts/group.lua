#!lua flags=allow-oom
-- Makes the group of the coordinators, from the beginning of the stream.
--
-- Uses  base
-- KEYS  1 prefix
-- Reply 1 when made, 0 when it was there
-- OOM   allowed: without its group nothing is settled, and Redis refuses XGROUP CREATE when memory is full.
-- Again it is there, and left as it is.
local made = redis.pcall('XGROUP', 'CREATE', P .. 'results', 'settlement', '0', 'MKSTREAM')
if not made.err then return 1 end
if made.err:find('BUSYGROUP', 1, true) then return 0 end
return made
