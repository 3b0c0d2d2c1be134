#!lua flags=allow-oom
-- Sends an operator's command to the coordinators, and their replies to the operator.
--
-- KEYS  1 operations, the stream of all commands and of their final replies; 2 the operation, a hash
-- ARGV  put: 1 "put"; 2 ms within which the operation may start; 3 channel of the coordinators; then field, value…
--       claim: 1 "claim"; 2 host
--       answer: 1 "answer"; 2 host; 3 state; 4 text; 5 "1": the host's final reply; 6 channel of the replies; 7 id
-- Reply put: 1, or 0: an operation with this id exists. claim: 1 carry it out, 0 claimed before, -1 too late.
--       answer: 1
-- Fence none: an operation is put once, and each host claims it once.
-- OOM   allowed: operators must act when Redis is full.
-- Again put and claim reply that an earlier call did the same; answer writes the same state.
local KEEP_SECONDS = 86400
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local op = ARGV[1]

if op == 'put' then
    if redis.call('HSETNX', KEYS[2], 'start_deadline', now + ARGV[2]) == 0 then return 0 end
    redis.call('EXPIRE', KEYS[2], KEEP_SECONDS)
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', 10000, '*', 'at', now, 'start_deadline', now + ARGV[2], unpack(ARGV, 4))
    redis.call('PUBLISH', ARGV[3], 'operation')
    return 1
end

local field = 'host:' .. ARGV[2]
if op == 'claim' then
    local start_deadline = tonumber(redis.call('HGET', KEYS[2], 'start_deadline') or '0')
    if redis.call('HEXISTS', KEYS[2], field) == 1 then return 0 end
    if start_deadline < now then return -1 end
    redis.call('HSET', KEYS[2], field, 'accepted ')
    return 1
end

local answer = ARGV[3] .. ' ' .. ARGV[4]
if redis.call('HGET', KEYS[2], field) ~= answer then
    redis.call('HSET', KEYS[2], field, answer)
    redis.call('EXPIRE', KEYS[2], KEEP_SECONDS)
    if ARGV[5] == '1' then
        redis.call('XADD', KEYS[1], 'MAXLEN', '~', 10000, '*', 'at', now, 'of', ARGV[7], 'host', ARGV[2],
            'state', ARGV[3], 'text', ARGV[4])
    end
end
redis.call('PUBLISH', ARGV[6], ARGV[7])
return 1
