#!lua flags=no-writes,allow-oom
-- Finds keys of the wrong type, and data that cannot be read.
--
-- Uses  base, events, records
-- KEYS  1 prefix; 2 inbox
-- ARGV  1 shards of the farm
-- Reply [[key, its type, the required type…], number of entries that cannot be settled, id of one, reason, number of unreadable
--       originals that are kept, name of one]; an id, a reason or a name is "" if there is none
-- Fence none: the script only reads. Again the same reply.
-- The script skips keys that the Redis user may not read.
local wrong = {}
local function check(key, kind)
    local found = redis.pcall('TYPE', key)
    found = not found.err and found.ok or 'none'
    if found == kind or found == 'none' then return end
    for _, word in ipairs({ key, found, kind }) do wrong[#wrong + 1] = word end
end

local KINDS = {
    list = { 'taken', 'paused', 'unproven', 'unconfirmed', 'cancel_requests', 'devices', 'devices_taken', 'lookups',
        'campaigns', 'campaigns_taken', 'done', 'done_taken', 'cancelled_content' },
    hash = { 'owners', 'intake', 'paused_jobs', 'paused_tokens', 'cancels', 'paused_shards', 'batches', 'states', 'dead_letter_counts', 'suppression',
        'scopes', 'guard', 'feedback', 'load', 'admission', 'refusals', 'unsettled', 'unreadable', 'device_intake',
        'campaign_inputs', 'done_inputs' },
    zset = { 'delayed', 'jobs', 'campaign_ids' },
    stream = { 'results', 'events', 'refused', 'refused_devices', 'refused_campaigns', 'refused_done', 'dead_letters',
        'audit' },
}
check(KEYS[2], 'list')
for kind, names in pairs(KINDS) do
    for _, name in ipairs(names) do check(P .. name, kind) end
end
for shard = 0, tonumber(ARGV[1]) - 1 do
    local nn = string.format('%02d', shard)
    for _, name in ipairs({ 'ready:', 'bulk:', 'in_flight:' }) do check(P .. name .. nn, 'list') end
    check(P .. 'suppressed:' .. nn, 'stream')
end

-- Returns the number of fields of a hash, and the name of one field.
local function sample(key)
    local count = redis.pcall('HLEN', key)
    if type(count) ~= 'number' or count == 0 then return 0, '' end
    local name = redis.pcall('HRANDFIELD', key)
    return count, type(name) == 'string' and name or ''
end
local unsettled, entry = sample(P .. 'unsettled')
local unreadable, name = sample(UNREADABLE)
local why = entry ~= '' and call('HGET', P .. 'unsettled', entry) or ''
return { wrong, unsettled, entry, why:match('^%d+ (.*)$') or why, unreadable, name }
