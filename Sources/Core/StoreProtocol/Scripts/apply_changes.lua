#!lua flags=allow-oom
-- Applies changes to one partition of a registry of devices, if the partition has the expected version.
--
-- Uses  base
-- KEYS  1 prefix of the partition
-- ARGV  1 expected version; 2 name of this call; then for each change: command, key without the prefix, number of the command's
--       other words, these words…
-- Reply the partition's new version, which is the expected version plus 1
-- Fence the version. STALE n: the partition has version n, so another call has changed the partition since the caller read it.
-- OOM   allowed: the caller checks that Redis has room before it adds devices. Changes that remove devices must always be
--       possible.
-- Again the field `did` contains this call's name, ARGV[2], so a repeated call changes nothing and gets the same reply.
--
-- The caller computes all changes from the data that it read at the expected version. The script does not interpret records or
-- bitmaps. Each command sets values, and none depends on an earlier value. The script increases the version before the first
-- change and stores `did` after the last change. So if a key of a wrong type ends the script in between, a repeated call gets the
-- error STALE. Then the caller reads the partition again and plans the missing changes.
local version, meta = tonumber(ARGV[1]), P .. 'meta'
local found = call('HMGET', meta, 'version', 'did')
local current = tonumber(found[1] or '0') or 0
if current == version + 1 and found[2] == ARGV[2] then return current end
if current ~= version then return { err = 'STALE ' .. string.format('%d', current) } end

local COMMANDS = {
    HSET = true, HDEL = true, SET = true, SETRANGE = true, BITFIELD = true, DEL = true, ZADD = true, ZREM = true,
}
local MOST_WORDS = 7000
local changes, at = {}, 3
while at <= #ARGV do
    local words = tonumber(ARGV[at + 2])
    if not COMMANDS[ARGV[at]] or not words or words > MOST_WORDS or at + 2 + words > #ARGV then
        return { err = 'ERR not a change: ' .. ARGV[at] }
    end
    changes[#changes + 1] = at
    at = at + 3 + words
end

call('HSET', meta, 'version', string.format('%d', version + 1), 'did', '')
for i = 1, #changes do
    local first = changes[i]
    call(ARGV[first], P .. ARGV[first + 1], unpack(ARGV, first + 3, first + 2 + ARGV[first + 2]))
end
call('HSET', meta, 'did', ARGV[2])
return version + 1
