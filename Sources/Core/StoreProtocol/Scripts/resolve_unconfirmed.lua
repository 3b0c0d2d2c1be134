#!lua flags=allow-oom
-- Applies or drops suppressions that the guard keeps for confirmation.
--
-- Uses  base, events, suppression
-- KEYS  1 prefix
-- ARGV  1 due | confirm | discard; 2 maximum records in a shard's suppression list; 3 maximum suppressions in one call
-- Reply [suppressions applied or dropped, suppressions left]
-- Fence none: the step that removes a suppression from the list also applies it. OOM allowed.
-- Again the call continues with the remaining suppressions.
--
-- With `due`, the suppressions are applied only if the share of bad tokens has fallen below the limit. With `confirm`, an
-- operator confirms that the tokens are bad: the suppressions are applied, and until the share has fallen, later bad tokens are
-- suppressed immediately. With `discard`, the suppressions are dropped, and later bad tokens are kept for confirmation as before.
local op, most, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
local UNCONFIRMED, guard = P .. 'unconfirmed', P .. 'guard'
local state = call('HGET', guard, 'state') or ''
if op == 'due' and state ~= 'release' then return { 0, call('LLEN', UNCONFIRMED) } end
if op == 'confirm' and state == 'held' then
    call('HSET', guard, 'state', 'confirmed')
    call('HDEL', P .. 'suppression', 'holding')
end
-- Checks the form: NN, record, and possibly the words of an event, all as text.
local function is_kept_suppression(parts)
    if type(parts) ~= 'table' then return false end
    for k = 1, #parts do
        if type(parts[k]) ~= 'string' then return false end
    end
    return #parts >= 2 and parts[1]:match('^%d+$') and #parts[2] >= 10
end
local stamp, last = string.format('%d', now()), {}
local some = call('LPOP', UNCONFIRMED, limit) or {}
if op ~= 'discard' then
    for _, bytes in ipairs(some) do
        local isRead, parts = pcall(cmsgpack.unpack, bytes)
        if isRead and is_kept_suppression(parts) then
            last[parts[1]] = suppress(parts[1], parts[2], most)
            report_invalid(parts[2])
            if parts[4] then add_event(parts[4], stamp, unpack(parts, 5)) end
        end
    end
end
local wakes = {}
for nn, id in pairs(last) do
    call('HSET', P .. 'suppression', nn, id)
    wakes[#wakes + 1] = nn
end
table.sort(wakes)
if #wakes > 0 then call('PUBLISH', P .. 'wakeups', 's ' .. table.concat(wakes, ' ')) end
local remaining = call('LLEN', UNCONFIRMED)
if remaining == 0 and state == 'release' then call('HSET', guard, 'state', '') end
return { #some, remaining }
