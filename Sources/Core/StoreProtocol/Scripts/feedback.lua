#!lua flags=allow-oom
-- Decides when the intake reads the feedback service. At most one reading is in progress at any time.
--
-- Uses  base
-- KEYS  1 prefix
-- ARGV  ask | begin, intake token, reader, maximum ms of a reading
--       | end, reader, tuples, ms until the next reading, why the reading failed or ""
-- Reply ask: the time of the request in ms; the request is served when `served` is later
--       begin: [1, failures in a row], or [0, ms until the caller should ask again]
--       end: 1, or 0 if another reader has begun its reading meanwhile
-- Fence begin: the intake's token, so the intake's owner reads for all hosts. OOM allowed: the call writes only a few fields.
-- Again a repeated ask is a later request; a repeated begin continues the reader's reading; a repeated end does nothing.
--
-- The stored start time of a reading is later than all requests before the reading, and not later than any request after its
-- start. So a comparison of these times shows whether a request is served. The script keeps this order even if two calls come
-- within one millisecond, and after Redis's clock was set back.
local feedback, t, op = P .. 'feedback', now(), ARGV[1]
if op == 'ask' then
    local begun = call('HMGET', feedback, 'begun_at', 'served')
    t = math.max(t, tonumber(begun[1] or '0'), tonumber(begun[2] or '0'))
    call('HSET', feedback, 'asked', string.format('%d', t))
    return t
end

local old = call('HMGET', feedback, 'reader', 'until', 'due', 'asked', 'served', 'failures', 'begun_at')
if op == 'begin' then
    if call('HGET', P .. 'owners', 'intake') ~= ARGV[2] then return { err = 'FENCED intake' } end
    local busy = tonumber(old[2] or '0') - t
    -- If the stored end of a reading is further away than the maximum duration of a reading, Redis's clock was set back. Then the
    -- stored end is ignored.
    if old[1] and old[1] ~= ARGV[3] and busy > 0 and busy <= tonumber(ARGV[4]) then return { 0, busy } end
    local wait = tonumber(old[3] or '0') - t
    if wait > 0 and tonumber(old[4] or '-1') < tonumber(old[5] or '0') then return { 0, wait } end
    local begun = old[1] == ARGV[3] and old[7] or string.format('%d', math.max(t, tonumber(old[4] or '0') + 1))
    call('HSET', feedback, 'reader', ARGV[3], 'until', string.format('%d', t + ARGV[4]), 'begun_at', begun)
    return { 1, tonumber(old[6] or '0') }
end

if old[1] ~= ARGV[2] then return 0 end
local begun = old[7] or '0'
call('HDEL', feedback, 'reader', 'until', 'begun_at')
call('HSET', feedback, 'served', begun, 'due', string.format('%d', t + ARGV[4]), 'ended_at', string.format('%d', t), 'tuples',
    ARGV[3])
call('HINCRBY', feedback, 'total', ARGV[3])
if ARGV[5] == '' then
    call('HDEL', feedback, 'failures', 'error')
    call('HSET', feedback, 'read_at', string.format('%d', t))
else
    call('HINCRBY', feedback, 'failures', 1)
    call('HSET', feedback, 'error', ARGV[5])
end
return 1
