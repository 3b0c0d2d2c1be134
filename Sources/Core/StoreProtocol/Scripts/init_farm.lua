#!lua flags=allow-oom
-- Initialises the farm at its first start, and adds apps to those that it knows.
--
-- KEYS  1 farm; 2 apps
-- ARGV  1 shards that the farm is to have, 0: initialises nothing; 2 format of the data; then apps…
-- Reply shards that the farm has, 0 if it is not initialised
-- Fence none: what is there stays. OOM allowed: jobs may have filled the memory before the first coordinator comes.
-- Again everything is there.
local farm, apps = KEYS[1], KEYS[2]
if ARGV[1] ~= '0' and redis.call('HSETNX', farm, 'shards', ARGV[1]) == 1 then
    redis.call('HSETNX', farm, 'format', ARGV[2])
end
for i = 3, #ARGV do redis.call('SADD', apps, ARGV[i]) end
return tonumber(redis.call('HGET', farm, 'shards') or '0')
