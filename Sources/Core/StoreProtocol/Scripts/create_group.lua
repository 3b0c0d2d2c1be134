#!lua flags=allow-oom
-- Creates the coordinators' consumer group, which reads the results stream from its beginning.
--
-- Uses  base
-- KEYS  1 prefix
-- Reply 1 if the group was created, 0 if it existed
-- OOM   allowed: nothing is settled without the group, and Redis refuses XGROUP CREATE when memory is full.
-- Again the group exists, and nothing changes.
local made = redis.pcall('XGROUP', 'CREATE', P .. 'results', 'settlement', '0', 'MKSTREAM')
if not made.err then return 1 end
if made.err:find('BUSYGROUP', 1, true) then return 0 end
return made
