#!lua flags=allow-oom
-- Pauses and resumes an app, and says which it is.
--
-- KEYS  1 prefix
-- ARGV  pause, reason, fingerprint of the credentials | resume
-- Reply 1 when something changed, else 0
-- Fence none: the wish is stored, the last one holds. OOM allowed.
-- Again nothing changes, and no second event is written.
local gate, t = P .. 'gate', now()
if ARGV[1] == 'pause' then
    local old = call('HMGET', gate, 'paused', 'fingerprint')
    if old[1] == ARGV[2] and old[2] == ARGV[3] then return 0 end
    call('HSET', gate, 'paused', ARGV[2], 'fingerprint', ARGV[3], 'since', t)
    call('XADD', P .. 'events', 'MAXLEN', '~', '1000000', '*', 'type', 'app.paused', 'at', t, 'reason', ARGV[2])
    return 1
end
if call('HDEL', gate, 'paused', 'fingerprint', 'since') == 0 then return 0 end
call('XADD', P .. 'events', 'MAXLEN', '~', '1000000', '*', 'type', 'app.resumed', 'at', t)
call('PUBLISH', P .. 'bell', '*')
return 1
