#!lua flags=allow-oom
-- Puts a sealed provider token, if the stored one is still the one that the caller saw.
--
-- KEYS  1 the token's key
-- ARGV  1 stored value that is expected, "" for none; 2 new value; 3 ms to keep it
-- Reply [1] when put; [0, stored value] when another was there first
-- OOM   allowed. Again the stored value is the new one: answered as put.
local stored = redis.call('GET', KEYS[1]) or ''
if stored == ARGV[2] then return { 1 } end
if stored ~= ARGV[1] then return { 0, stored } end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return { 1 }
