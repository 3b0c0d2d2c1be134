#!lua flags=allow-oom
-- Records that an alert fires or clears, and adds an entry to the stream of alerts.
--
-- KEYS  1 active alerts, a hash; 2 alerts, a stream
-- ARGV  1 fired or cleared; 2 id, "kind app|host|farm NAME subject"; 3 level; 4 start in ms; 5 text;
--       6 host that reports the alert
-- Reply 1 if the alert's state changed, 0 if the alert already had this state
-- Fence none: only one host reports an alert, and a second call changes nothing.
-- OOM   allowed: an alert may be about full memory. Again the state is stored already, and nothing changes.
local active, stream = KEYS[1], KEYS[2]
local verb, id, level = ARGV[1], ARGV[2], ARGV[3]
local old = redis.call('HGET', active, id)
if verb == 'cleared' then
    if not old then return 0 end
    redis.call('HDEL', active, id)
else
    redis.call('HSET', active, id, level .. ' ' .. ARGV[4] .. ' ' .. ARGV[5])
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
add('sent_by', ARGV[6])
redis.call('XADD', stream, 'MAXLEN', '~', 1000, '*', unpack(words))
return 1
