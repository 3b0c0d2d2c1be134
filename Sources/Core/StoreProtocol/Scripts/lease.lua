#!lua flags=allow-oom
-- Acquires, renews and releases leases on an app's shards and intake.
--
-- Uses  base
-- KEYS  1 prefix
-- ARGV  1 acquire | renew | release | leave; 2 nonce; 3 host; 4 lease in ms; 5 predecessor or "";
--       6… fields: "NN" or "intake" (leave: none); acquire: "?NN" only reads, "!NN" also takes the field from a live
--       owner; release: field, token, field, token…
-- Reply acquire: [lease end in ms, per field: token (acquired), ms until the field may be free, or 0: free and not acquired];
--       renew: [lease end, per field: 1 still owned, 0 lost]; release, leave: [number of fields released]
-- Fence none: this script makes the tokens. A field is free if it has no owner, or if its owner's `until:NONCE` is missing or
--       past. An `until:NONCE` that is later than one full lease from now was written before Redis's clock was set back. The
--       script sets such a time to one full lease from now, so a live owner can renew its lease in time. A field taken with "!"
--       changes its owner immediately, even if the old owner lives: the old owner's requests fail because of their old token. A
--       field may also go to its owner's successor, which knows that the owner has exited. The predecessor is a nonce, or the
--       part of a nonce before its dot.
-- OOM   allowed: leases are renewed when memory is full.
-- Again acquire finds its own nonce and returns the same token; renew sets an absolute time; release compares tokens, so a late
--       call releases nothing that was acquired since.
local op, nonce, host, lease, predecessor = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local owners = P .. 'owners'
local t = now()

local function parse(value)
    local epoch, owner = value:match('^(%d+):([^:]*):')
    return tonumber(epoch), owner
end

if op == 'release' then
    local n = 0
    for i = 6, #ARGV, 2 do
        if call('HGET', owners, ARGV[i]) == ARGV[i + 1] then
            call('HSET', owners, ARGV[i], ARGV[i + 1]:match('^%d+') .. '::')
            n = n + 1
        end
    end
    return { n }
end
if op == 'leave' then
    local n = 0
    call('HDEL', owners, 'until:' .. nonce)
    for _, field in ipairs(call('HKEYS', owners)) do
        local value = call('HGET', owners, field)
        if value:match('^%d+:') then
            local epoch, owner = parse(value)
            if owner == nonce then
                call('HSET', owners, field, epoch .. '::')
                n = n + 1
            end
        end
    end
    return { n }
end

local reply, own_count, ends, names, emptied = { t + lease }, 0, {}, {}, {}
for i = 6, #ARGV do names[i - 5] = ARGV[i]:match('^[?!]?(.*)$') end
if #names == 0 then return reply end
local values = call('HMGET', owners, unpack(names))
for i, value in ipairs(values) do
    local field, epoch, owner = names[i], 0, ''
    if value then epoch, owner = parse(value) end
    local is_successor = predecessor ~= '' and (owner == predecessor or owner:sub(1, #predecessor + 1) == predecessor .. '.')
    if owner == nonce then
        own_count = own_count + 1
        reply[i + 1] = op == 'renew' and 1 or value
    elseif op == 'renew' then
        reply[i + 1] = 0
    else
        local remaining = 0
        if owner ~= '' and not is_successor and ARGV[i + 5]:sub(1, 1) ~= '!' then
            if ends[owner] == nil then
                ends[owner] = tonumber(call('HGET', owners, 'until:' .. owner) or '0')
                if ends[owner] <= t then
                    call('HDEL', owners, 'until:' .. owner)
                elseif ends[owner] > t + lease then
                    ends[owner] = t + lease
                    call('HSET', owners, 'until:' .. owner, ends[owner])
                end
            end
            remaining = ends[owner] - t
        end
        if remaining > 0 then
            reply[i + 1] = remaining
        elseif ARGV[i + 5]:sub(1, 1) == '?' and not is_successor then
            reply[i + 1] = 0
        else
            local token = (epoch + 1) .. ':' .. nonce .. ':' .. host
            call('HSET', owners, field, token)
            if is_successor then emptied[owner] = true end
            own_count = own_count + 1
            reply[i + 1] = token
        end
    end
end
-- Deletes the `until:NONCE` of a predecessor that has lost its last field. A predecessor that still has fields needs this time.
if next(emptied) then
    for _, field in ipairs(call('HKEYS', owners)) do
        local value = field:match('^until:') and '' or call('HGET', owners, field)
        if value:match('^%d+:') then
            local _, owner = parse(value)
            emptied[owner] = nil
        end
    end
    for owner in pairs(emptied) do call('HDEL', owners, 'until:' .. owner) end
end
if own_count > 0 then call('HSET', owners, 'until:' .. nonce, t + lease) end
return reply
