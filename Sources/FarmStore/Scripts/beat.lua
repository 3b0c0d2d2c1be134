#!lua flags=allow-oom
-- Keeps a host's line in the registry, and drops lines that ended an hour ago.
--
-- KEYS  1 hosts
-- ARGV  1 host; 2 ms until the line ends, 0 to take it out; 3 JSON
-- Reply Redis's time in ms
-- OOM   allowed. Again the line is the same but for its end.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if ARGV[2] == '0' then
    redis.call('HDEL', KEYS[1], ARGV[1])
else
    redis.call('HSET', KEYS[1], ARGV[1], string.format('%d %s', now + ARGV[2], ARGV[3]))
end
local lines = redis.call('HGETALL', KEYS[1])
for i = 1, #lines, 2 do
    local ends = tonumber(lines[i + 1]:match('^%d+') or '0')
    if ends < now - 3600000 then redis.call('HDEL', KEYS[1], lines[i]) end
end
return now
