#!lua flags=allow-oom
-- Writes a host's heartbeat, lists the live hosts, and deletes heartbeats that ended an hour ago.
--
-- KEYS  1 hosts
-- ARGV  1 host; 2 ms until the heartbeat ends, 0 to remove it; 3 nonce of the host's coordinator; 4 nonce of its predecessor,
--       which has exited, or ""; 5 capacity; 6 apps, "a,b"; 7 JSON
-- Reply [Redis's time in ms; 0 if written, or the remaining ms of this host's heartbeat from another coordinator;
--       then per live host: name, nonce, capacity, apps]
-- Fence the nonce: only the coordinator that wrote a heartbeat changes or removes it before its end. If a heartbeat ends more
--       than MOST ms from now, it is forged, or Redis's clock was set back. The script ignores and removes such a heartbeat.
-- OOM   allowed. Again only the heartbeat's end changes.
local MOST = 60000
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)

-- A stored heartbeat is the text "end nonce capacity apps JSON".
local function parse(line) return line:match('^(%d+) (%S*) (%d+) (%S*) ') end

local remaining, old = 0, redis.call('HGET', KEYS[1], ARGV[1])
if old then
    local ends, nonce = parse(old)
    if ends and nonce ~= ARGV[3] and nonce ~= ARGV[4] and ends - now <= MOST then remaining = math.max(0, ends - now) end
end
if remaining == 0 then
    if ARGV[2] == '0' then
        redis.call('HDEL', KEYS[1], ARGV[1])
    else
        redis.call('HSET', KEYS[1], ARGV[1],
            string.format('%d %s %d %s %s', now + ARGV[2], ARGV[3], ARGV[5], ARGV[6], ARGV[7]))
    end
end
local reply, lines = { now, remaining }, redis.call('HGETALL', KEYS[1])
for i = 1, #lines, 2 do
    local ends, nonce, capacity, apps = parse(lines[i + 1])
    ends = tonumber(ends or '0')
    if ends < now - 3600000 or ends > now + MOST then
        redis.call('HDEL', KEYS[1], lines[i])
    elseif ends > now then
        for _, part in ipairs({ lines[i], nonce, tonumber(capacity), apps }) do reply[#reply + 1] = part end
    end
end
return reply
