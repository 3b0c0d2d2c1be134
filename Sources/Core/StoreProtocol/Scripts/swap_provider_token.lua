#!lua flags=allow-oom
-- Stores a sealed provider token, if the stored token is still the token that the caller read.
--
-- KEYS  1 the token's key
-- ARGV  1 stored value that is expected, "" for none; 2 new value; 3 ms to keep it
-- Reply [1] if stored; [0, stored value] if another caller stored its value first
-- OOM   allowed. Again the stored value is the new value, and the reply is [1].
local stored = redis.call('GET', KEYS[1]) or ''
if stored == ARGV[2] then return { 1 } end
if stored ~= ARGV[1] then return { 0, stored } end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return { 1 }
