-- Campaigns whose content the pushes of another campaign's step contain.
-- Uses base, records, pauses, campaigns.

-- Returns the merged campaigns of a step: for each campaign the id, the last step, and the place in ARGV and the numbers of its
-- fields and counts. `i` is the place of the step's events, which the batches and then the merged campaigns follow.
local function read_merged(i, events, batches, number)
    for _ = 1, tonumber(events) do i = i + 1 + tonumber(ARGV[i]) end
    i = i + 5 * batches
    local found = {}
    for k = 1, number do
        local fields, counts = tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
        found[k] = { id = ARGV[i], step = tonumber(ARGV[i + 1]), first = i + 4, fields = fields, counts = counts }
        i = i + 4 + 2 * fields + 2 * counts
    end
    return found
end

-- Returns whether the content of a campaign may be sent now, and the campaign's last step is `step`.
local function may_merge(id, step, t)
    local record = call('HMGET', campaign_key(id), 'step', 'state')
    if record[2] ~= 'running' or (tonumber(record[1] or '0') or 0) ~= step or pause_of(id) then return false end
    local entry = cancel_of(id)
    return not (entry and tonumber(entry:match('^%d+ (%d+)')) <= t)
end

-- Stores the fields of a merged campaign, adds its counts, and raises its step. If Redis loses this change, the campaign has an
-- earlier step, so a step that was prepared with the lost bits is refused.
local function store_merged(other, t)
    local key, i = campaign_key(other.id), other.first
    call('HSET', key, 'step', other.step + 1)
    for _ = 1, other.fields do
        call('HSET', key, ARGV[i], ARGV[i + 1])
        i = i + 2
    end
    for _ = 1, other.counts do
        increment(key, ARGV[i], ARGV[i + 1])
        if ARGV[i]:find('^merged:') then count_in_time(key, 'sent_at', ARGV[i + 1], t) end
        i = i + 2
    end
end
