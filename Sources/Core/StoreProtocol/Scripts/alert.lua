#!lua flags=allow-oom
-- Raises an alert, or calls it off, in the farm's own books, and tells of it there.
--
-- KEYS  1 raised alerts, a hash; 2 alerts that were told, a stream
-- ARGV  1 raised or cleared; 2 id, "kind app|host|farm NAME subject"; 3 level; 4 since when, in ms; 5 text;
--       6 host that tells
-- Reply 1 told, 0 it was so already.
-- Fence none: an alert has one teller, and a second one changes nothing.
-- OOM   allowed: that memory is short is one of the alerts. Again it is so already.
local raised, told = KEYS[1], KEYS[2]
local verb, id, level = ARGV[1], ARGV[2], ARGV[3]
local old = redis.call('HGET', raised, id)
if verb == 'cleared' then
    if not old then return 0 end
    redis.call('HDEL', raised, id)
else
    redis.call('HSET', raised, id, level .. ' ' .. ARGV[4] .. ' ' .. ARGV[5])
    if old and tonumber(old:match('^%d+')) >= tonumber(level) then return 0 end
end
local t = redis.call('TIME')
local kind, place, name, subject = id:match('^(%S+) (%S+) (%S*) (%S*)$')
local words = { 'type', 'alert.' .. verb, 'at', t[1] * 1000 + math.floor(t[2] / 1000), 'alert', kind or id }
local function add(field, value)
    if value and value ~= '' then words[#words + 1], words[#words + 2] = field, value end
end
if place == 'app' or place == 'host' then add(place, name) end
add('subject', subject)
add('level', level)
add('since', ARGV[4])
add('text', ARGV[5])
add('teller', ARGV[6])
redis.call('XADD', told, 'MAXLEN', '~', 1000, '*', unpack(words))
return 1
