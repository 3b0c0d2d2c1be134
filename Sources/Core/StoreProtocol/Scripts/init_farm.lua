#!lua flags=allow-oom
-- Initialises the farm at its first start, and adds apps to the farm's set of apps.
--
-- KEYS  1 farm; 2 apps
-- ARGV  1 number of shards for a new farm, 0: do not initialise; 2 format of the data; then apps…
-- Reply number of shards of the farm, 0 if it is not initialised
-- Fence none: existing values do not change. OOM allowed: jobs may fill the memory before the first coordinator starts.
-- Again all values exist, and nothing changes.
local farm, apps = KEYS[1], KEYS[2]
if ARGV[1] ~= '0' and redis.call('HSETNX', farm, 'shards', ARGV[1]) == 1 then
    redis.call('HSETNX', farm, 'format', ARGV[2])
end
for i = 3, #ARGV do redis.call('SADD', apps, ARGV[i]) end
return tonumber(redis.call('HGET', farm, 'shards') or '0')
